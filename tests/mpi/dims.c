/* MPI_Dims_create: as even as possible, not increasing, fixed dimensions unchanged; large numbers
 * take little time. Small numbers are compared with all ways of dividing them. */
#include "check.h"

static void gives(int nodes, int count, const int* given, const int* wanted) {
  int dims[4];
  memcpy(dims, given, (size_t)count * sizeof(int));
  CHECK(MPI_Dims_create(nodes, count, dims) == MPI_SUCCESS);
  CHECK(memcmp(dims, wanted, (size_t)count * sizeof(int)) == 0);
}

/* Is a better than b? First by the difference of largest and smallest, then by the smallest. */
static int better(int count, const int* a, const int* b) {
  const int difference = (a[0] - a[count - 1]) - (b[0] - b[count - 1]);
  if (difference != 0) return difference < 0;
  for (int i = count; i-- > 0;)
    if (a[i] != b[i]) return a[i] > b[i];
  return 0;
}

/* Tries all not increasing dimensions from `first` on. */
static void try_all(int nodes, int count, int first, int* dims, int* best) {
  if (first == count) {
    if (nodes == 1 && (best[0] == 0 || better(count, dims, best)))
      memcpy(best, dims, (size_t)count * sizeof(int));
    return;
  }
  for (int d = 1; d <= nodes && (first == 0 || d <= dims[first - 1]); ++d) {
    dims[first] = d;
    if (nodes % d == 0) try_all(nodes / d, count, first + 1, dims, best);
  }
}

static void test_small(void) {
  for (int nodes = 1; nodes <= 400; ++nodes) {
    for (int count = 1; count <= 4; ++count) {
      int dims[4], wanted[4] = {0};
      try_all(nodes, count, 0, dims, wanted);
      gives(nodes, count, (int[]){0, 0, 0, 0}, wanted);
    }
  }
}

static void test_refusals(void) {
  int dims[2] = {0, 5}, none[1] = {0};
  REFUSED(MPI_Dims_create(7, 2, dims), MPI_ERR_DIMS, "5 at index 1");
  CHECK(dims[0] == 0 && dims[1] == 5);
  REFUSED(MPI_Dims_create(10, 2, ((int[]){5, 5})), MPI_ERR_DIMS, "5 at index 1");
  REFUSED(MPI_Dims_create(10, 2, ((int[]){5, 1})), MPI_ERR_DIMS, "do not multiply to 10");
  REFUSED(MPI_Dims_create(4, 2, ((int[]){-2, 0})), MPI_ERR_DIMS, "-2 at index 0");
  REFUSED(MPI_Dims_create(4, 0, none), MPI_ERR_DIMS, "do not multiply to 4");
  REFUSED(MPI_Dims_create(0, 1, none), MPI_ERR_ARG, "nnodes");
  REFUSED(MPI_Dims_create(-4, 1, none), MPI_ERR_ARG, "nnodes");
  REFUSED(MPI_Dims_create(4, -1, none), MPI_ERR_DIMS, "ndims");
  REFUSED(MPI_Dims_create(4, 1, NULL), MPI_ERR_ARG, "dims");
}

int main(int argc, char** argv) {
  int status;
  MPI_Init(&argc, &argv);
  return_errors();
  test_small();
  gives(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
  gives(64, 4, (int[]){0, 2, 0, 0}, (int[]){4, 2, 4, 2});
  gives(12, 2, (int[]){3, 4}, (int[]){3, 4});
  gives(1, 0, (int[]){7}, (int[]){7});
  gives(2147483647, 3, (int[]){0, 0, 0}, (int[]){2147483647, 1, 1});
  gives(1 << 30, 3, (int[]){0, 0, 0}, (int[]){1024, 1024, 1024});
  gives(2147395600, 2, (int[]){0, 0}, (int[]){46340, 46340});
  gives(10800, 3, (int[]){0, 0, 0}, (int[]){27, 20, 20});
  gives(2095133040, 4, (int[]){0, 0, 0, 0}, (int[]){221, 216, 210, 209});
  test_refusals();
  CHECK(MPI_Topo_test(MPI_COMM_WORLD, &status) == MPI_SUCCESS && status == MPI_UNDEFINED);
  return finish();
}
