/* For test programs: one hint of a communicator. */
#ifndef HEADWAY_TESTS_MPI_HINTS_H
#define HEADWAY_TESTS_MPI_HINTS_H

#include "check.h"

static inline void set_hint(MPI_Comm comm, const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
}

static inline int hint_is(MPI_Comm comm, const char* key, const char* wanted) {
  MPI_Info info;
  char value[32] = "";
  int flag = 0, length = sizeof value;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get_string(info, key, &length, value, &flag);
  MPI_Info_free(&info);
  return flag && strcmp(value, wanted) == 0;
}

#endif
