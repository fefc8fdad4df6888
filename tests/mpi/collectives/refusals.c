/* Goal: bad arguments of collectives give the error class of the standard and change nothing. */
#include <wchar.h>

#include "patterns.h"

static void nothing(void* in, void* inout, int* len, MPI_Datatype* type) {
  (void)in, (void)inout, (void)len, (void)type;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int a = 1, b = 2;
  wchar_t c = L'x', d;
  double x = 1, y;
  MPI_Request r;
  CHECK_CLASS(MPI_Bcast(&a, 1, MPI_INT, 1, comm), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(&a, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(&a, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(&c, &d, 1, MPI_WCHAR, MPI_SUM, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_MAXLOC, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_REPLACE, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(&a, &a, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(&a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Iallreduce(&c, &d, 1, MPI_WCHAR, MPI_SUM, comm, &r), MPI_ERR_OP);
  CHECK(r == MPI_REQUEST_NULL, "a refused call leaves a null request");
  CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  char text[2] = {3, -5}, sum[2] = {0, 0}; /* not in the standard, but programs do it */
  CHECK_OK(MPI_Allreduce(text, sum, 2, MPI_CHAR, MPI_SUM, comm));
  CHECK(sum[0] == 3 && sum[1] == (char)-5, "MPI_CHAR: %d and %d", sum[0], sum[1]);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  int v[2] = {1, 2}, w[2];
  CHECK_CLASS(MPI_Allreduce(v, w, 1, two, MPI_SUM, comm), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(v, w, 1, two, MPI_SUM), MPI_ERR_OP);
  MPI_Type_free(&two);
  MPI_Op op = MPI_SUM;
  CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  CHECK(op == MPI_SUM, "a predefined operation stays");
  int commute = -1;
  CHECK_OK(MPI_Op_create(nothing, 0, &op));
  CHECK_OK(MPI_Op_commutative(op, &commute));
  CHECK(commute == 0, "commute is %d", commute);
  CHECK_OK(MPI_Op_commutative(MPI_MAX, &commute));
  CHECK(commute == 1, "commute is %d", commute);
  MPI_Op_free(&op);
  int l[3] = {1, 5, 3}, m[3] = {4, 2, 6};
  CHECK_CLASS(MPI_Reduce_local(l, l, 3, MPI_INT, MPI_MAX), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Reduce_local(l, m, 3, MPI_INT, MPI_MAX));
  CHECK(m[0] == 4 && m[1] == 5 && m[2] == 6, "reduce_local gives %d %d %d", m[0], m[1], m[2]);
  if (check_rank != 0) {
    CHECK_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
  }
  return check_end("refusals");
}
