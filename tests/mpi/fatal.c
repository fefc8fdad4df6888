/* Rank 1 makes a mistake while the others wait for it; no error handler is set. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int value = 0, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    printf("printed before the mistake"); /* and not flushed */
    MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
