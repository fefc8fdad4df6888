/* For test programs: failed checks are counted, and the program continues. */
#ifndef HEADWAY_TESTS_MPI_CHECK_H
#define HEADWAY_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

/* The call ends with this error class, and its message holds `words`. */
#define REFUSED(call, error, words)                                                              \
  do {                                                                                           \
    int class_ = -1, length_ = 0;                                                                \
    char text_[MPI_MAX_ERROR_STRING] = "";                                                       \
    int code_ = (call);                                                                          \
    if (code_ != MPI_SUCCESS) MPI_Error_class(code_, &class_);                                   \
    if (code_ != MPI_SUCCESS) MPI_Error_string(code_, text_, &length_);                          \
    if (class_ != (error) || strstr(text_, (words)) == NULL) {                                   \
      fprintf(stderr, "%s:%d: %s: class %d, '%s'; wanted %s, '%s'\n", __FILE__, __LINE__, #call, \
              class_, text_, #error, (words));                                                   \
      ++failures;                                                                                \
    }                                                                                            \
  } while (0)

static inline void return_errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline int finish(void) {
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

#endif
