#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Reads a size such as `64`, `64K`, `4M`; sets `end` to the text after it. False: no number.
static bool size_read(const char* text, const char** end, size_t* value) {
  char* stop = NULL;
  const unsigned long long number = strtoull(text, &stop, 10);
  if (stop == text || *text == '-') return false;
  *value = (size_t)number;
  switch (*stop) {
    case 'k':
    case 'K':
      *value <<= 10, ++stop;
      break;
    case 'm':
    case 'M':
      *value <<= 20, ++stop;
      break;
    case 'g':
    case 'G':
      *value <<= 30, ++stop;
      break;
    default:
      break;
  }
  *end = stop;
  return true;
}

static bool list_append(struct list* list, size_t value) {
  if (list->count == list_max) return false;
  list->value[list->count++] = value;
  return true;
}

bool list_read(struct list* list, const char* text) {
  struct list read = {.count = 0};
  while (true) {
    size_t first = 0;
    if (!size_read(text, &text, &first)) return false;
    size_t last = first;
    if (strncmp(text, "..", 2) == 0 && !size_read(text + 2, &text, &last)) return false;
    for (size_t value = first; value <= last; value = value == 0 ? 1 : 2 * value)
      if (!list_append(&read, value)) return false;
    if (*text == '\0') break;
    if (*text++ != ',') return false;
  }
  *list = read;
  return true;
}

static void print_default(const struct option* row) {
  switch (row->kind) {
    case option_flag:
      break;
    case option_number:
      printf(" [%g]", *(const double*)row->value);
      break;
    case option_text: {
      const char* text = *(const char* const*)row->value;
      if (text != NULL) printf(" [%s]", text);
      break;
    }
    case option_list: {
      const struct list* list = row->value;
      printf(" [");
      for (int i = 0; i < list->count; ++i) printf("%s%zu", i == 0 ? "" : ",", list->value[i]);
      printf("]");
      break;
    }
  }
}

static void print_rows(const struct option* rows) {
  static const char* const operand[] = {"", " N", " LIST", " TEXT"};
  for (; rows->name != NULL; ++rows) {
    const int width = printf("  %s%s", rows->name, operand[rows->kind]);
    printf("%*s%s", width < 22 ? 22 - width : 2, "", rows->help);
    print_default(rows);
    printf("\n");
  }
}

static const struct option* find(const struct option* rows, const char* name) {
  for (; rows->name != NULL; ++rows)
    if (strcmp(rows->name, name) == 0) return rows;
  return NULL;
}

/// Stores `text`, the operand of `row`. False if it cannot be read as the row's kind.
static bool store(const struct option* row, const char* text) {
  switch (row->kind) {
    case option_flag:
      *(bool*)row->value = true;
      return true;
    case option_text:
      *(const char**)row->value = text;
      return true;
    case option_list:
      return list_read(row->value, text);
    case option_number: {
      char* end = NULL;
      *(double*)row->value = strtod(text, &end);
      return end != text && *end == '\0' && *(double*)row->value >= 0;
    }
  }
  return false;
}

void options_read(const char* about, const struct option* common, const struct option* own,
                  int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      printf("%s\n\noptions:\n", about);
      print_rows(own);
      print_rows(common);
      exit(0);
    }
    const struct option* row = find(own, argv[i]);
    if (row == NULL) row = find(common, argv[i]);
    const bool takes_operand = row != NULL && row->kind != option_flag;
    if (row == NULL || (takes_operand && i + 1 == argc)) {
      fprintf(stderr, "%s: %s '%s'\n", argv[0],
              row == NULL ? "unknown option" : "an operand is missing after", argv[i]);
      exit(2);
    }
    const char* text = takes_operand ? argv[++i] : "";
    if (!store(row, text)) {
      fprintf(stderr, "%s: %s cannot be '%s'\n", argv[0], row->name, text);
      exit(2);
    }
  }
}
