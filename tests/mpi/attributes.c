/* Attributes: copied by MPI_Comm_dup as their callback says, deleted when replaced and freed. */
#include "check.h"

static int deleted, copies;

static int copy_plus_one(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  CHECK(extra == &deleted);
  ++deleted;
  return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return MPI_ERR_OTHER;
}

int main(int argc, char** argv) {
  static char memory[4];
  MPI_Comm comm, copy, third;
  void* value = NULL;
  int key, kept, stubborn, flag = 0;
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_create_keyval(copy_plus_one, count_delete, &key, &deleted);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &kept, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(!flag);
  MPI_Comm_set_attr(comm, key, memory);
  MPI_Comm_set_attr(comm, kept, memory + 3);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(flag && value == memory);
  MPI_Comm_dup(comm, &copy);
  CHECK(copies == 1);
  MPI_Comm_get_attr(copy, key, &value, &flag);
  CHECK(flag && value == memory + 1);
  MPI_Comm_get_attr(copy, kept, &value, &flag);
  CHECK(flag && value == memory + 3);
  MPI_Comm_set_attr(copy, key, memory + 2);
  CHECK(deleted == 1);
  MPI_Comm_delete_attr(comm, key);
  int again = key;
  CHECK(deleted == 2);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
  key = again; /* `copy` still has the attribute */
  CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
  REFUSED(MPI_Type_free_keyval(&again), MPI_ERR_KEYVAL, "");
  MPI_Comm_free(&copy);
  CHECK(deleted == 3);
  REFUSED(MPI_Comm_free_keyval(&again), MPI_ERR_KEYVAL, "");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &stubborn, NULL);
  MPI_Comm_set_attr(comm, stubborn, memory);
  REFUSED(MPI_Comm_free(&comm), MPI_ERR_OTHER, "delete callback");
  CHECK(comm != MPI_COMM_NULL);
  MPI_Comm_dup(comm, &third);
  MPI_Comm_get_attr(third, stubborn, &value, &flag);
  CHECK(!flag);
  MPI_Comm_free(&third);
  return finish();
}
