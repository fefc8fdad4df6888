/* A call in each of its forms: blocking, non-blocking and persistent. */
#ifndef HEADWAY_TESTS_MPI_FORMS_H
#define HEADWAY_TESTS_MPI_FORMS_H

#include "check_all.h"

enum form { blocking, nonblocking, persistent, forms };

/* Calls MPI_NAME(arguments), or MPI_INAME(arguments, &request), or starts what
 * MPI_NAME_init(arguments, MPI_INFO_NULL, &request) makes twice; waits for the request. */
#define RUN(form, name, iname, ...)                                       \
  do {                                                                    \
    MPI_Request request_ = MPI_REQUEST_NULL;                              \
    if ((form) == blocking) CHECK_OK(MPI_##name(__VA_ARGS__));            \
    if ((form) == nonblocking) {                                          \
      CHECK_OK(MPI_##iname(__VA_ARGS__, &request_));                      \
      CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                   \
    }                                                                     \
    if ((form) == persistent) {                                           \
      CHECK_OK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)); \
      for (int twice_ = 0; twice_ < 2; ++twice_) {                        \
        CHECK_OK(MPI_Start(&request_));                                   \
        CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                 \
      }                                                                   \
      CHECK_OK(MPI_Request_free(&request_));                              \
    }                                                                     \
  } while (0)

#endif
