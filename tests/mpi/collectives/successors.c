/* Goal: a communicator is not taken for another one that had its context number before: what ranks
 * that waited long have asked each other about the operations of that one ends nothing.
 * Method: communicators of each kind are made, used and freed, one after the other, so that most
 * have the number of the one before. In each the operations have another order than in that one.
 * One rank comes late, by about the time after which the others ask, so that questions are under
 * way while communicators end. */
#include <unistd.h>

#include "check_all.h"

enum { turns = 36, operations = 4, late_us_min = 80000, late_us_step = 17000, late_steps = 11 };

static MPI_Comm duplicate(int turn) {
  MPI_Comm made;
  (void)turn;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  return made;
}

static MPI_Comm duplicate_in_background(int turn) {
  MPI_Comm made;
  MPI_Request r;
  (void)turn;
  CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &r));
  CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  return made;
}

static MPI_Comm split(int turn) {
  MPI_Comm made;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, (check_rank + turn) % check_size / 2, 0, &made));
  return made;
}

/* All but one. */
static MPI_Comm of_some(int turn) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all, some;
  const int left_out = turn % check_size;
  if (check_rank == left_out) return made;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &left_out, &some);
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, turn, &made));
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

static MPI_Comm of_a_group(int turn) {
  MPI_Comm made;
  MPI_Group all;
  (void)turn;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  CHECK_OK(
      MPI_Comm_create_from_group(all, "successors", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made));
  MPI_Group_free(&all);
  return made;
}

static MPI_Comm merge(int turn) {
  MPI_Comm half, both, made;
  const int second = check_rank != 0;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, second, 0, &half));
  CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !second, turn, &both));
  CHECK_OK(MPI_Barrier(both));
  CHECK_OK(MPI_Intercomm_merge(both, second, &made));
  CHECK_OK(MPI_Comm_free(&half));
  CHECK_OK(MPI_Comm_free(&both));
  return made;
}

typedef MPI_Comm way(int turn);
static way* const ways[] = {duplicate, duplicate_in_background, split, of_some, of_a_group, merge};
enum { ways_count = sizeof ways / sizeof *ways };

static void operate(MPI_Comm comm, int which, int root) {
  enum { bytes = 100 };
  int rank, size, sum = 0;
  char data[bytes];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  switch (which) {
    case 0:
      CHECK_OK(MPI_Barrier(comm));
      break;
    case 1:
      memset(data, rank == root ? 'x' : ' ', bytes);
      CHECK_OK(MPI_Bcast(data, bytes, MPI_CHAR, root, comm));
      CHECK(data[0] == 'x' && data[bytes - 1] == 'x', "%d", data[0]);
      break;
    case 2:
      CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
      CHECK(sum == size * (size - 1) / 2, "%d", sum);
      break;
    default:
      CHECK_OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, comm));
      CHECK(rank != root || sum == size * (size - 1) / 2, "%d", sum);
      break;
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Comm comm = ways[turn % ways_count](turn);
    if (comm == MPI_COMM_NULL) continue;
    int size;
    MPI_Comm_size(comm, &size);
    if (check_rank == turn / ways_count % check_size)
      usleep(late_us_min + turn * 7 % late_steps * late_us_step);
    for (int i = 0; i < operations; ++i) operate(comm, (turn + i) % operations, turn % size);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  return check_end("successors");
}
