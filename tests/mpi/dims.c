/* MPI_Dims_create: as even as can be, not increasing, fixed ones kept. */
#include "check.h"

static void gives(int nodes, int count, const int* given, const int* wanted) {
  int dims[4];
  memcpy(dims, given, (size_t)count * sizeof(int));
  CHECK(MPI_Dims_create(nodes, count, dims) == MPI_SUCCESS);
  CHECK(memcmp(dims, wanted, (size_t)count * sizeof(int)) == 0);
}

int main(int argc, char** argv) {
  int dims[2] = {0, 5}, status;
  MPI_Init(&argc, &argv);
  return_errors();
  gives(6, 2, (int[]){0, 0}, (int[]){3, 2});
  gives(72, 2, (int[]){0, 0}, (int[]){9, 8});
  gives(7, 2, (int[]){0, 0}, (int[]){7, 1});
  gives(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
  gives(64, 3, (int[]){0, 0, 0}, (int[]){4, 4, 4});
  gives(1, 1, (int[]){0}, (int[]){1});
  REFUSED(MPI_Dims_create(7, 2, dims), MPI_ERR_DIMS, "5 at index 1");
  CHECK(MPI_Topo_test(MPI_COMM_WORLD, &status) == MPI_SUCCESS && status == MPI_UNDEFINED);
  return finish();
}
