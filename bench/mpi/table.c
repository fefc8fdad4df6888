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
  t->csv = realloc(t->csv, t->csv_bytes + (size_t)length + 1);
  if (t->csv == NULL) {
    perror("table");
    exit(1);
  }
  memcpy(t->csv + t->csv_bytes, piece, (size_t)length + 1);
  t->csv_bytes += (size_t)length;
}

void table_open(struct table* t, const char* label, const struct column* columns, int count,
                bool silent) {
  *t = (struct table){.label = label, .columns = columns, .count = count, .silent = silent};
  if (silent) return;
  if (label != NULL) {
    printf("%-10s", label);
    append(t, "%s,", label);
  }
  for (int i = 0; i < count; ++i) {
    printf("%*s", width, columns[i].name);
    append(t, "%s%s", i == 0 ? "" : ",", columns[i].name);
  }
  printf("\n");
  append(t, "\n");
  fflush(stdout);
}

void table_row(struct table* t, const char* label, const double* values) {
  if (t->silent) return;
  if (t->label != NULL) {
    printf("%-10s", label);
    append(t, "%s,", label);
  }
  for (int i = 0; i < t->count; ++i) {
    printf("%*.*f", width, t->columns[i].decimals, values[i]);
    const double finite = isfinite(values[i]) ? values[i] : 0;
    append(t, "%s%.9g", i == 0 ? "" : ",", finite);
  }
  printf("\n");
  append(t, "\n");
  fflush(stdout);
}

bool table_close(struct table* t, const char* path) {
  bool written = true;
  if (!t->silent && path != NULL) {
    FILE* file = fopen(path, "w");
    if (file != NULL) fputs(t->csv, file);
    written = file != NULL && fclose(file) == 0;
    if (!written) perror(path);
  }
  free(t->csv);
  t->csv = NULL;
  return written;
}
