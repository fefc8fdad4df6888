/* The last rank makes a mistake while the others wait for it; no error handler is set. Before that
 * it prints without flushing: a text, and with an argument another one to a file of that name; with
 * a second argument, more than a pipe holds. */
#include <mpi.h>
#include <stdio.h>

static void print(int argc, char** argv) {
  static char memory[1 << 20];
  if (argc > 1) {
    FILE* file = fopen(argv[1], "w");
    if (file != NULL) fputs("written before the mistake", file);
  }
  if (argc > 2) {
    setvbuf(stdout, memory, _IOFBF, sizeof memory);
    for (int i = 0; i < 50000; ++i) printf("line %06d\n", i);
  }
  printf("printed before the mistake");
}

int main(int argc, char** argv) {
  int value = 0, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    print(argc, argv);
    MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
