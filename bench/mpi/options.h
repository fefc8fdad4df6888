/// Command-line options of a benchmark: a table of rows, read once, before MPI starts.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A list of numbers as `8,1K,4M` or, in powers of two, `1..64K`.
enum { list_max = 64 };
struct list {
  size_t value[list_max];
  int count;
};

enum option_kind { option_flag, option_number, option_list, option_text };

struct option {
  const char* name;       ///< with its dashes: "--sizes"
  enum option_kind kind;  ///< flag: bool; number: double; list: struct list; text: const char*
  void* value;            ///< the variable, which holds the default
  const char* help;       ///< one line, without the default: that is printed from `value`
};

/// Reads `argv` by the tables (each ends with a row whose name is NULL).
/// Errors: `--help` prints the options and exits with 0; anything unknown or unreadable exits with
///         2 and a line that names it.
void options_read(const char* about, const struct option* common, const struct option* own,
                  int argc, char** argv);

/// Reads `text` as a list. Errors: false if a part is not a number or there are too many.
bool list_read(struct list* list, const char* text);
