/* Goal: a rank that is killed in the middle of collectives ends them on all the others with an
 * error in under two seconds, blocking or not, small or large; no rank hangs or crashes.
 * Method: ranks reduce, broadcast and exchange without end until the last rank kills itself; the
 * others print their errors and leave without MPI_Finalize. Started with --keep-going. */
#include <signal.h>
#include <unistd.h>

#include "patterns.h"

static long bytes_of_round[] = {8, 4096, 300000, 3000000};

/* One round of everything; the first error class. */
static int one_round(char* a, char* b, int round) {
  const int n = (int)(bytes_of_round[round % 4] / 8);
  const int kind = round % 5;
  int code = MPI_SUCCESS, class = MPI_SUCCESS;
  if (kind == 0) {
    code = MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (kind == 1) {
    code = MPI_Bcast(a, n, MPI_DOUBLE, round % check_size, MPI_COMM_WORLD);
  } else if (kind == 2) {
    code =
        MPI_Alltoall(a, n / check_size, MPI_DOUBLE, b, n / check_size, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (kind == 3) {
    code = MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Request r[3];
    double one[3] = {1, 2, 3}, sum[3];
    for (int i = 0; i < 3 && code == MPI_SUCCESS; ++i) {
      r[i] = MPI_REQUEST_NULL;
      code = MPI_Iallreduce(&one[i], &sum[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    }
    for (int i = 0; i < 3; ++i) {
      const int end = MPI_Wait(&r[i], MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS) code = end;
    }
  }
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int fatal_round = argc > 1 ? atoi(argv[1]) : 20;
  char *a = calloc(1, 3000000), *b = calloc(1, 3000000);
  int class = MPI_SUCCESS;
  double before = MPI_Wtime();
  for (int round = 0; class == MPI_SUCCESS; ++round) {
    if (check_rank == check_size - 1 && round == fatal_round) raise(SIGKILL);
    if (round == fatal_round) before = MPI_Wtime();
    class = one_round(a, b, round);
    CHECK(round < fatal_round + 50, "nobody noticed the death");
    if (round >= fatal_round + 50) break;
  }
  const double after = MPI_Wtime() - before;
  CHECK(after < 2.0, "it took %g s", after);
  CHECK(class == MPI_ERR_PROC_ABORTED || class == MPI_ERR_OTHER, "error class %d", class);
  printf("rank %d: error class %d\n", check_rank, class);
  fflush(stdout);
  _exit(check_failures != 0);
}
