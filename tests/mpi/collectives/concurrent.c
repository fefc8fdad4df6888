/* Goal: collectives under way at once, on one communicator and on several, do not mix, whatever the
 * order in which they are waited for; and no rank leaves a barrier early.
 * Method: many non-blocking operations, waited for in another order on each rank. */
#include "patterns.h"

#define MANY 24

static void out_of_order(MPI_Comm comm, int round) {
  MPI_Request r[MANY];
  long sums[MANY], mine[MANY], casts[MANY];
  long* all = malloc(sizeof(long) * MANY * (size_t)check_size);
  for (int i = 0; i < MANY; ++i) {
    mine[i] = value_of(check_rank, i, round);
    casts[i] = check_rank == i % check_size ? value_of(99, i, round) : -1;
    if (i % 3 == 0) CHECK_OK(MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_LONG, MPI_SUM, comm, &r[i]));
    else if (i % 3 == 1) CHECK_OK(MPI_Ibcast(&casts[i], 1, MPI_LONG, i % check_size, comm, &r[i]));
    else
      CHECK_OK(
          MPI_Iallgather(&mine[i], 1, MPI_LONG, all + i * check_size, 1, MPI_LONG, comm, &r[i]));
  }
  for (int k = 0; k < MANY; ++k) {
    const int i = (k * 7 + check_rank * 5) % MANY; /* 7 and 24 share no factor: each once */
    CHECK_OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    CHECK(r[i] == MPI_REQUEST_NULL, "the request becomes null");
    if (i % 3 == 0) {
      long sum = 0;
      for (int rank = 0; rank < check_size; ++rank) sum += value_of(rank, i, round);
      CHECK(sums[i] == sum, "sum %d is %ld, not %ld", i, sums[i], sum);
    } else if (i % 3 == 1) {
      CHECK(casts[i] == value_of(99, i, round), "broadcast %d", i);
    } else {
      for (int rank = 0; rank < check_size; ++rank)
        CHECK(all[i * check_size + rank] == value_of(rank, i, round), "allgather %d", i);
    }
  }
  free(all);
}

static void beside_messages(MPI_Comm comm) {
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  long in = -1, out = check_rank, sum = -1;
  MPI_Request r[3];
  CHECK_OK(MPI_Irecv(&in, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]));
  CHECK_OK(MPI_Iallreduce(&out, &sum, 1, MPI_LONG, MPI_SUM, comm, &r[1]));
  CHECK_OK(MPI_Isend(&out, 1, MPI_LONG, next, 0, comm, &r[2]));
  CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
  CHECK(in == last, "a receive from anyone took %ld", in);
  CHECK(sum == check_size * (check_size - 1L) / 2, "sum is %ld", sum);
}

static void tested_to_the_end(MPI_Comm comm) {
  MPI_Request r;
  int done = 0;
  CHECK_OK(MPI_Ibarrier(comm, &r));
  while (!done) CHECK_OK(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
  CHECK(r == MPI_REQUEST_NULL, "the request becomes null");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm twin, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
  for (int round = 0; round < 30; ++round) {
    out_of_order(round % 2 ? twin : MPI_COMM_WORLD, round);
    beside_messages(twin);
    tested_to_the_end(MPI_COMM_WORLD);
    int rank, size, sum;
    MPI_Comm_rank(part, &rank);
    MPI_Comm_size(part, &size);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part));
    CHECK(sum == size * (size - 1) / 2, "sum over the part is %d", sum);
    CHECK_OK(MPI_Barrier(twin));
  }
  /* Freed while operations are under way. */
  MPI_Request r;
  long one = 1, sum = 0;
  CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, twin, &r));
  MPI_Comm_free(&twin);
  CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK(sum == check_size, "sum on a freed communicator is %ld", sum);
  MPI_Comm_free(&part);
  return check_end("concurrent");
}
