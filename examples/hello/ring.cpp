// Passes a token round all ranks: each rank adds its number and sends it to the next.
#include <mpi.h>

#include <iostream>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;

  int token = 0;
  MPI_Request arrives;
  MPI_Irecv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &arrives);
  if (rank != 0) MPI_Wait(&arrives, MPI_STATUS_IGNORE);
  const int passed_on = token + rank;
  MPI_Send(&passed_on, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Wait(&arrives, MPI_STATUS_IGNORE);
    std::cout << "the token came back with " << token << '\n';
  }
  MPI_Finalize();
}
