#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int width = 14;

static void append(struct table* t, const char* format, ...) {
  char piece[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  t->json = realloc(t->json, t->json_bytes + (size_t)length + 1);
  if (t->json == NULL) {
    perror("table");
    exit(1);
  }
  memcpy(t->json + t->json_bytes, piece, (size_t)length + 1);
  t->json_bytes += (size_t)length;
}

void table_open(struct table* t, const char* label, const struct column* columns, int count,
                bool silent) {
  *t = (struct table){.label = label, .columns = columns, .count = count, .silent = silent};
  if (silent) return;
  if (label != NULL) printf("%-10s", label);
  for (int i = 0; i < count; ++i) printf("%*s", width, columns[i].name);
  printf("\n");
  fflush(stdout);
}

void table_row(struct table* t, const char* label, const double* values) {
  if (t->silent) return;
  append(t, "%s{", t->json_bytes == 0 ? "" : ",\n    ");
  if (t->label != NULL) {
    printf("%-10s", label);
    append(t, "\"%s\": \"%s\", ", t->label, label);
  }
  for (int i = 0; i < t->count; ++i) {
    printf("%*.*f", width, t->columns[i].decimals, values[i]);
    const double finite = isfinite(values[i]) ? values[i] : 0;
    append(t, "%s\"%s\": %.9g", i == 0 ? "" : ", ", t->columns[i].name, finite);
  }
  append(t, "}");
  printf("\n");
  fflush(stdout);
}

/// Writes `text` without the characters that JSON would need escaped.
static void put_plain(FILE* file, const char* text) {
  for (; *text != '\0'; ++text)
    fputc(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? ' ' : *text, file);
}

bool table_close(struct table* t, const char* path, const char* benchmark, const char* library,
                 int ranks) {
  bool written = true;
  if (!t->silent && path != NULL) {
    FILE* file = fopen(path, "w");
    if (file != NULL) {
      fprintf(file, "{\n  \"benchmark\": \"%s\",\n  \"library\": \"", benchmark);
      put_plain(file, library);
      fprintf(file, "\",\n  \"ranks\": %d,\n  \"rows\": [\n    %s\n  ]\n}\n", ranks,
              t->json == NULL ? "" : t->json);
    }
    written = file != NULL && fclose(file) == 0;
    if (!written) perror(path);
  }
  free(t->json);
  t->json = NULL;
  return written;
}
