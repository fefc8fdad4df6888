/* End-points and MPI in one program: one engine, whichever comes first, and end-points outlive
 * MPI_Finalize. */
#include <mpi.h>

#include "check.h"

static void exchange(headway_endpoint at, int rank, int size, int round) {
  const headway_address next = look_up("main", (rank + 1) % size);
  int value = round * 100 + rank, sum = 0;
  WELL(headway_endpoint_send_copy(at, next, round, &value, sizeof value, LONG_ENOUGH));
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == round * 100 * size + size * (size - 1) / 2);
  headway_message got = receive_from(at, round);
  CHECK(*(int*)got.data == round * 100 + (rank + size - 1) % size);
  WELL(headway_buffer_release(got.data));
}

int main(int argc, char** argv) {
  const int endpoints_first = argc > 1;
  headway_endpoint at = 0;
  if (endpoints_first) at = open_own("main");
  MPI_Init(&argc, &argv);
  if (!endpoints_first) at = open_own("main");
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(headway_process() == rank && headway_process_count() == size);
  for (int round = 1; round <= 100; ++round) exchange(at, rank, size, round);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  meet(at, "main", 999);
  WELL(headway_endpoint_close(at));
  return 0;
}
