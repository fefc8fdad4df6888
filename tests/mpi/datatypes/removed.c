/* Goal: programs that use names which MPI-3.0 removed link, run, and are warned by the compiler. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "check.h"

static int calls;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

struct record {
  double value;
  int number;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct record one;
  MPI_Aint start, number, extent, lb, ub;
  CHECK(MPI_Address(&one, &start) == MPI_SUCCESS);
  CHECK(MPI_Address(&one.number, &number) == MPI_SUCCESS);
  CHECK(number - start == 8);
  int blocks[] = {1, 1};
  MPI_Aint places[] = {0, 8};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, made;
  int size;
  CHECK(MPI_Type_struct(2, blocks, places, types, &made) == MPI_SUCCESS);
  MPI_Type_size(made, &size);
  CHECK(size == 12);
  CHECK(MPI_Type_extent(made, &extent) == MPI_SUCCESS && extent == sizeof one);
  CHECK(MPI_Type_lb(made, &lb) == MPI_SUCCESS && lb == 0);
  CHECK(MPI_Type_ub(made, &ub) == MPI_SUCCESS && ub == sizeof one);
  MPI_Type_free(&made);
  CHECK(MPI_Type_hvector(3, 1, 12, MPI_INT, &made) == MPI_SUCCESS);
  CHECK(MPI_Type_extent(made, &extent) == MPI_SUCCESS && extent == 28);
  MPI_Type_free(&made);
  places[0] = 4;
  CHECK(MPI_Type_hindexed(2, blocks, places, MPI_INT, &made) == MPI_SUCCESS);
  CHECK(MPI_Type_lb(made, &lb) == MPI_SUCCESS && lb == 4);
  MPI_Type_free(&made);
  MPI_Errhandler handler, found;
  MPI_Handler_function* const function = on_error;
  CHECK(MPI_Errhandler_create(function, &handler) == MPI_SUCCESS);
  CHECK(MPI_Errhandler_set(MPI_COMM_WORLD, handler) == MPI_SUCCESS);
  CHECK(MPI_Errhandler_get(MPI_COMM_WORLD, &found) == MPI_SUCCESS && found == handler);
  MPI_Send(&size, 1, MPI_INT, -77, 0, MPI_COMM_WORLD);
  CHECK(calls == 1);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  /* Deprecated, but still in the standard. */
  int key, flag, *value;
  static int attribute = 5;
  MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
  MPI_Attr_put(MPI_COMM_WORLD, key, &attribute);
  MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
  CHECK(flag && value == &attribute);
  MPI_Attr_delete(MPI_COMM_WORLD, key);
  MPI_Keyval_free(&key);
  return finish();
}
