/* Goal: where one rank begins a non-blocking operation before a blocking one, and the others begin
 * them in the other order, a rank that gets data of another length than it expects says in which of
 * its calls, and from which rank. (The program is wrong. What no rank can see by lengths is not
 * noticed: docs/mpi.md.)
 * Method: rank 0 broadcasts 16 bytes where the others reduce 40000. The barriers before let the
 * ranks of a node agree on shared memory. Rank 0 may wait until the others leave. Started with
 * --keep-going. */
#include <unistd.h>

#include "check_all.h"

enum { numbers = 5000, barriers = 6 };
static double sent[numbers], received[numbers];

static int reduce_all(void) {
  return MPI_Allreduce(sent, received, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void says_which_call_of_which_rank(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  CHECK(code != MPI_SUCCESS, "no error");
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "MPI_Allreduce: rank 0 ") != NULL, "'%s'", text);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    MPI_Request begun;
    MPI_Ibcast(sent, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, &begun);
    reduce_all();
  } else {
    says_which_call_of_which_rank(reduce_all());
    if (check_failures == 0) printf("rank %d notices it\n", check_rank);
  }
  fflush(stdout);
  _exit(check_failures != 0);
}
