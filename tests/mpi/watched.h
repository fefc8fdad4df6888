/* Memory that the program reads while an operation may be writing it. That the bytes arrive without
 * a call is what such a test is about, and MPI permits it for a window (MPI_WIN_UNIFIED); to
 * ThreadSanitizer it is a race. */
#ifndef HEADWAY_TESTS_MPI_WATCHED_H
#define HEADWAY_TESTS_MPI_WATCHED_H

__attribute__((no_sanitize("thread"))) static inline long watched_long(const volatile long* at) {
  return *at;
}

__attribute__((no_sanitize("thread"))) static inline char watched_char(const volatile char* at) {
  return *at;
}

#endif
