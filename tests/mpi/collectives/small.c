/* Goal: small blocking collectives, repeated until the ranks of a node use shared slots instead of
 * messages, stay right: beside messages, on many communicators, after long waits.
 * Method: ranks pause at different times; more communicators than there are slots; a message that
 * needs its sender while the sender waits; unequal sizes, which are errors on both sides. */
#include <unistd.h>

#include "patterns.h"

static void pause_now_and_then(int round) {
  if ((round + check_rank * 3) % 17 == 0) usleep(300);
  if ((round + check_rank * 5) % 50 == 0) usleep(5000); /* long enough to be slept through */
}

static void sums(MPI_Comm comm, int rounds) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < rounds; ++round) {
    const long mine[3] = {rank + round, -rank, 1};
    long all[3] = {-1, -1, -1};
    pause_now_and_then(round);
    CHECK_OK(MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, comm));
    const long ranks = size * (size - 1L) / 2;
    CHECK(all[0] == ranks + (long)size * round && all[1] == -ranks && all[2] == size,
          "round %d: %ld %ld %ld", round, all[0], all[1], all[2]);
    double most = rank * 0.5;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm));
    CHECK(most == (size - 1) * 0.5, "the largest is %g", most);
    struct {
      double value;
      int where;
    } least = {.value = size - rank, .where = rank};
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
    CHECK(least.where == size - 1, "the least is at %d", least.where);
    CHECK_OK(MPI_Allreduce(mine, all, 0, MPI_LONG, MPI_SUM, comm));
  }
}

/* The receiver needs the sender's help while the sender is in the barrier. */
static void messages_move_while_a_rank_waits(void) {
  enum { longs = 1 << 19 };
  if (check_size < 2 || check_rank > 1) {
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return;
  }
  long* data = malloc(sizeof(long) * longs);
  MPI_Request r;
  if (check_rank == 0) {
    for (long i = 0; i < longs; ++i) data[i] = i;
    CHECK_OK(MPI_Isend(data, longs, MPI_LONG, 1, 0, MPI_COMM_WORLD, &r));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  } else {
    usleep(2000);
    CHECK_OK(MPI_Recv(data, longs, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (long i = 0; i < longs; i += 997) CHECK(data[i] == i, "element %ld is %ld", i, data[i]);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  free(data);
}

static void a_barrier_holds_all_ranks(void) {
  for (int round = 0; round < 20; ++round) {
    const int late = round % check_size;
    int arrived = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    if (check_rank == 0 && late != 0)
      CHECK_OK(MPI_Irecv(&arrived, 1, MPI_INT, late, 7, MPI_COMM_WORLD, &r));
    if (check_rank == late) {
      usleep(1000);
      arrived = 1;
      if (late != 0) CHECK_OK(MPI_Send(&arrived, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(check_rank != 0 || arrived == 1, "rank %d was not waited for", late);
  }
}

static void more_communicators_than_slots(void) {
  MPI_Comm many[40];
  for (int i = 0; i < 40; ++i) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &many[i]));
  for (int i = 0; i < 40; ++i) sums(many[i], 3);
  for (int i = 0; i < 40; ++i) CHECK_OK(MPI_Comm_free(&many[i]));
}

static void unequal_counts_are_errors(void) {
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < 8; ++i) CHECK_OK(MPI_Barrier(comm));
  const int mine[2] = {1, 2};
  int all[2];
  if (check_size == 2) {
    int code = MPI_Allreduce(mine, all, check_rank + 1, MPI_INT, MPI_SUM, comm),
        class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    /* Rank 0 finds that there is too much, or learns first that rank 1 has failed. */
    CHECK(class == MPI_ERR_OTHER || (check_rank == 0 && class == MPI_ERR_TRUNCATE), "class %d",
          class);
    CHECK_OK(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm));
    CHECK(all[0] == 2 && all[1] == 4, "and the next one is right");
  }
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  sums(MPI_COMM_WORLD, 300);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
  sums(part, 50);
  sums(MPI_COMM_WORLD, 5);
  MPI_Comm_free(&part);
  messages_move_while_a_rank_waits();
  a_barrier_holds_all_ranks();
  more_communicators_than_slots();
  unequal_counts_are_errors();
  return check_end("small");
}
