/* Goal: a datatype that was not committed is refused wherever data is sent or received, with
 * MPI_ERR_TYPE, and only there. */
#include "check_all.h"

static void nothing(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

static void test_refused(MPI_Datatype type) {
  MPI_Comm self = MPI_COMM_SELF;
  MPI_Request r;
  MPI_Op op;
  int a[8] = {0}, b[8] = {0}, one = 1, zero = 0;
  CHECK_CLASS(MPI_Send(a, 1, type, 0, 0, self), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send_c(a, 1, type, 0, 0, self), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Isend(a, 1, type, 0, 0, self, &r), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send_init(a, 1, type, 0, 0, self, &r), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Recv(a, 1, type, 0, 0, self, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Irecv(a, 1, type, MPI_ANY_SOURCE, 0, self, &r), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Sendrecv(a, 2, MPI_INT, 0, 0, b, 1, type, 0, 0, self, MPI_STATUS_IGNORE),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(a, 1, type, 0, self), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Gather(a, 1, type, b, 2, MPI_INT, 0, self), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Iallgather(a, 2, MPI_INT, b, 1, type, self, &r), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Alltoallw(a, &one, &zero, &type, b, &one, &zero, &type, self), MPI_ERR_TYPE);
  CHECK_OK(MPI_Op_create(nothing, 1, &op));
  CHECK_CLASS(MPI_Allreduce(a, b, 1, type, op, self), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Reduce_local(a, b, 1, type, op), MPI_ERR_TYPE);
  MPI_Op_free(&op);
}

static void test_allowed(MPI_Datatype type) {
  MPI_Datatype made;
  int from[2] = {3, 4}, to[2] = {0, 0}, size = 0, position = 0;
  char packed[64];
  CHECK_OK(MPI_Type_contiguous(3, type, &made));
  MPI_Type_free(&made);
  CHECK_OK(MPI_Type_create_struct(1, &(int){1}, &(MPI_Aint){0}, &type, &made));
  MPI_Type_free(&made);
  CHECK_OK(MPI_Type_size(type, &size));
  CHECK_OK(MPI_Pack(from, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
  position = 0;
  CHECK_OK(MPI_Unpack(packed, sizeof packed, &position, to, 1, type, MPI_COMM_SELF));
  CHECK(to[0] == 3 && to[1] == 4, "%d and %d", to[0], to[1]);
  /* Not significant where the buffer is MPI_IN_PLACE. */
  CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 1, type, to, 2, MPI_INT, MPI_COMM_SELF));
}

static void test_works(MPI_Datatype type) {
  int from[2] = {5, 6}, to[2] = {0, 0};
  CHECK_OK(MPI_Sendrecv(from, 1, type, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK(to[0] == 5 && to[1] == 6, "%d and %d", to[0], to[1]);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype type, copy;
  MPI_Type_contiguous(2, MPI_INT, &type);
  test_refused(type);
  test_allowed(type);
  MPI_Type_dup(type, &copy);
  test_refused(copy);
  MPI_Type_free(&copy);
  MPI_Type_commit(&type);
  test_works(type);
  MPI_Type_dup(type, &copy);
  test_works(copy);
  MPI_Type_free(&copy);
  MPI_Type_free(&type);
  return check_end("committing");
}
