/// Sends a message of a recognisable size, slowly enough for other processes to read the
/// statistics.
/// With an argument: continues for so many seconds.
#include <mpi.h>
#include <stdlib.h>

enum { bytes = 1000003 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* memory = calloc(1, bytes);
  if (memory == NULL) return 1;
  const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
  int more = 1;
  while (more) {
    more = MPI_Wtime() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(memory);
  MPI_Finalize();
  return 0;
}
