#include <mpi.h>

void call_in_c(void);
void call_in_c(void) {
  const int value = 1;
  for (int i = 0; i < 50; ++i) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}
