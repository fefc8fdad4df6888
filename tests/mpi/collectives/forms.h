/* A call in each of its forms: blocking, non-blocking and persistent. */
#ifndef HEADWAY_TESTS_MPI_FORMS_H
#define HEADWAY_TESTS_MPI_FORMS_H

#include "check_all.h"

enum form { blocking, nonblocking, persistent, forms };
static enum form form;

/* Makes the call in the form asked for, with `r` as its request; a persistent one is started
 * twice. */
#define IN_FORM(call, icall, init_call)            \
  do {                                             \
    MPI_Request r = MPI_REQUEST_NULL;              \
    if (form == blocking) {                        \
      CHECK_OK(call);                              \
    } else if (form == nonblocking) {              \
      CHECK_OK(icall);                             \
      CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));   \
    } else {                                       \
      CHECK_OK(init_call);                         \
      for (int again = 0; again < 2; ++again) {    \
        CHECK_OK(MPI_Start(&r));                   \
        CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE)); \
      }                                            \
      CHECK_OK(MPI_Request_free(&r));              \
    }                                              \
  } while (0)

#endif
