/* Goal: a collective operation that is called with different counts ends on all ranks, although
 * they have chosen different algorithms for their counts; at least one has an error, and what
 * follows on the same communicator is right.
 * Method: each case has a rank, or all but one, with another count. Where all ranks return is
 * checked by the time limit of the test. */
#include <stdbool.h>

#include "patterns.h"

enum { bytes_max = 1 << 20 };

static char sent[8 * bytes_max], received[8 * bytes_max];

static int broadcast(int bytes, MPI_Request* r) {
  return r ? MPI_Ibcast(sent, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, r)
           : MPI_Bcast(sent, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int gather_to_all(int bytes, MPI_Request* r) {
  return r ? MPI_Iallgather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD, r)
           : MPI_Allgather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static int gather(int bytes, MPI_Request* r) {
  return r ? MPI_Igather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, r)
           : MPI_Gather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int exchange(int bytes, MPI_Request* r) {
  return r ? MPI_Ialltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD, r)
           : MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

typedef int operation(int bytes, MPI_Request* r);

static void ends(const char* name, operation* call, int bytes, bool waits_later) {
  MPI_Request r = MPI_REQUEST_NULL;
  int code = call(bytes, waits_later ? &r : NULL);
  if (waits_later && code == MPI_SUCCESS) code = MPI_Wait(&r, MPI_STATUS_IGNORE);
  int failed = code != MPI_SUCCESS, any = 0;
  CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(any, "%s with %d bytes%s: no rank has an error", name, bytes, waits_later ? ", I…" : "");
  int number = check_rank == 0 ? bytes : -1;
  CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    operation* call;
  } operations[] = {{"bcast", broadcast},
                    {"allgather", gather_to_all},
                    {"gather", gather},
                    {"alltoall", exchange}};
  static const int sizes[][2] = {
      {16, bytes_max}, {bytes_max, 16}, {40000, 300000}, {300000, 40000}, {300000, 400000}};
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int others[] = {0, 1, check_size - 1};
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        for (int later = 0; later < 2; ++later)
          ends(operations[o].name, operations[o].call, sizes[s][check_rank == others[i]], later);
  return check_end("mismatched");
}
