/// The result of a benchmark: rows of numbers, which are printed at once and kept for a CSV file.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct column {
  const char* name;  ///< with its unit last: "median_us"
  int decimals;
};

enum { columns_max = 12 };

/// Shape: one text label a row (its column's name is `label`, NULL for none), then `count` numbers.
struct table {
  const char* label;
  const struct column* columns;
  int count;
  bool silent;  ///< true on ranks that report nothing: the calls then do nothing
  char* csv;    ///< the file so far
  size_t csv_bytes;
};

/// Prints the names of the columns. `columns` must outlive the table.
void table_open(struct table* t, const char* label, const struct column* columns, int count,
                bool silent);
void table_row(struct table* t, const char* label, const double* values);
/// Writes the table to `path` unless that is NULL: CSV, with the names of the columns first.
/// Errors: false, after a line on standard error, if the file cannot be written.
bool table_close(struct table* t, const char* path);
