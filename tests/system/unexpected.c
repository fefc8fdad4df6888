/* Rank 0 sends rank 1 messages that no receive waits for, and then one that a receive waits for;
 * rank 1 receives the others afterwards and checks them. Exit status 0: all were right. */
#include <mpi.h>
#include <string.h>

enum { bytes = 2048, messages = 20 };

int main(int argc, char** argv) {
  int rank, wrong = 0;
  char data[bytes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int i = 0; i < messages; ++i) {
      memset(data, i, bytes);
      MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Send(data, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(data, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += data[0] != i || data[bytes - 1] != i;
    }
  }
  MPI_Finalize();
  return wrong != 0;
}
