/* A forked child that does not call exec may call MPI_Finalized; other calls return an error. Its
 * exit does not affect its parent. */
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void be_told(void) {
  int over = 0, rank;
  MPI_Finalized(&over); /* as a program does at its exit before it finalises */
  CHECK(over);
  REFUSED(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_ERR_OTHER, "was forked");
  REFUSED(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER, "was forked");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  for (int i = 0; i < 3; ++i) {
    int status = -1, one = 1, sum = 0, size;
    const pid_t child = fork();
    if (child == 0) {
      be_told();
      exit(failures ? 1 : 0); /* with all functions that are called at exit */
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
  }
  return finish();
}
