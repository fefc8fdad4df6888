/* Goal: messages of derived datatypes, small and large, arrive in the layout of the receiving type,
 * and the status has the number of elements. */
#include "check_all.h"

/* Sends `count` of one type to the next rank, receives as another from the last one. */
static void pass(MPI_Datatype out_type, int out_stride, MPI_Datatype in_type, int in_stride,
                 int count) {
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  int* out = calloc((size_t)(count * out_stride + 1), sizeof(int));
  int* in = calloc((size_t)(count * in_stride + 1), sizeof(int));
  for (int i = 0; i < count; ++i) out[i * out_stride] = check_rank * 1000000 + i;
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(out, count, out_type, next, 1, in, count, in_type, last, 1, MPI_COMM_WORLD,
                        &status));
  int got, elements;
  CHECK_OK(MPI_Get_count(&status, in_type, &got));
  CHECK_OK(MPI_Get_elements(&status, in_type, &elements));
  CHECK(got == count && elements == count, "%d of %d came, %d elements", got, count, elements);
  for (int i = 0; i < count; ++i) {
    CHECK(in[i * in_stride] == last * 1000000 + i, "element %d of %d", i, count);
    for (int k = 1; k < in_stride; ++k) CHECK(in[i * in_stride + k] == 0, "a gap was written");
  }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Datatype spaced, wide;
  MPI_Type_create_resized(MPI_INT, 0, 8, &spaced);
  MPI_Type_commit(&spaced);
  MPI_Type_create_resized(MPI_INT, 0, 20, &wide);
  MPI_Type_commit(&wide);
  const int counts[] = {0, 1, 7, 1000, 200000};
  for (int i = 0; i < 5; ++i) {
    pass(MPI_INT, 1, spaced, 2, counts[i]);
    pass(spaced, 2, MPI_INT, 1, counts[i]);
    pass(wide, 5, spaced, 2, counts[i]);
  }
  MPI_Type_free(&spaced);
  MPI_Type_free(&wide);
  return check_end("sending");
}
