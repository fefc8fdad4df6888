/* For self-checking MPI programs: a failed check prints rank, place and values, is counted, and
 * makes the program end with 1. */
#ifndef HEADWAY_TESTS_MPI_CHECK_ALL_H
#define HEADWAY_TESTS_MPI_CHECK_ALL_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank, check_size, check_failures;

#define CHECK(condition, ...)                                                              \
  do {                                                                                     \
    if (!(condition) && check_failures++ < 5) {                                            \
      fprintf(stderr, "rank %d: %s:%d: %s: ", check_rank, __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                                        \
      fprintf(stderr, "\n");                                                               \
    }                                                                                      \
  } while (0)

#define CHECK_OK(call) CHECK_CLASS(call, MPI_SUCCESS)
#define CHECK_CLASS(call, expected)                                        \
  do {                                                                     \
    int code_ = (call), class_ = MPI_SUCCESS;                              \
    if (code_ != MPI_SUCCESS) MPI_Error_class(code_, &class_);             \
    CHECK(class_ == (expected), "%s gives error class %d", #call, class_); \
  } while (0)

static inline void check_start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

/* Every rank learns whether any failed. */
static inline int check_end(const char* name) {
  int all = 0;
  MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (check_rank == 0 && all == 0) printf("%s: ok on %d ranks\n", name, check_size);
  if (check_rank == 0 && all > 0) printf("%s: %d checks failed\n", name, all);
  MPI_Finalize();
  return all != 0;
}

#endif
