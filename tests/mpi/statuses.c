/* Statuses field by field, requests that are looked at without being freed, and the modes of sends
 * that programs seldom use. */
#include "check.h"

static int rank, size;

static void fields_are_set_and_read(void) {
  MPI_Status status;
  int value = 0;
  CHECK(MPI_Status_set_source(&status, 7) == MPI_SUCCESS);
  CHECK(MPI_Status_set_tag(&status, 8) == MPI_SUCCESS);
  CHECK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE) == MPI_SUCCESS);
  CHECK(MPI_Status_get_source(&status, &value) == MPI_SUCCESS && value == 7);
  CHECK(MPI_Status_get_tag(&status, &value) == MPI_SUCCESS && value == 8);
  CHECK(MPI_Status_get_error(&status, &value) == MPI_SUCCESS && value == MPI_ERR_TRUNCATE);
  CHECK(status.MPI_SOURCE == 7 && status.MPI_TAG == 8 && status.MPI_ERROR == MPI_ERR_TRUNCATE);
  MPI_Count large = 0;
  CHECK(MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 40) == MPI_SUCCESS);
  CHECK(MPI_Get_elements_x(&status, MPI_INT, &large) == MPI_SUCCESS && large == (MPI_Count)1 << 40);
  CHECK(MPI_Get_elements(&status, MPI_INT, &value) == MPI_SUCCESS && value == MPI_UNDEFINED);
}

/* All requests of a ring exchange: `some` and `all` say which are complete, and leave them. */
static void requests_are_looked_at_and_stay(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int out = rank, in = -1, flag = 0, count = 0, indices[3];
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  MPI_Irecv(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[2]);
  while (!flag) CHECK(MPI_Request_get_status_all(3, requests, &flag, statuses) == MPI_SUCCESS);
  CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 3 && in == left);
  CHECK(requests[0] != MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL);
  CHECK(MPI_Request_get_status_some(3, requests, &count, indices, statuses) == MPI_SUCCESS);
  CHECK(count == 2 && indices[0] == 0 && indices[1] == 2);
  CHECK(requests[0] != MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL);
  CHECK(MPI_Testsome(3, requests, &count, indices, statuses) == MPI_SUCCESS);
  CHECK(count == 2 && requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
  CHECK(MPI_Testsome(3, requests, &count, indices, statuses) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
  CHECK(MPI_Request_get_status_some(3, requests, &count, indices, statuses) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &requests[1]);
  CHECK(MPI_Testsome(3, requests, &count, indices, statuses) == MPI_SUCCESS && count == 0);
  MPI_Cancel(&requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* Ready sends need a posted receive, persistent ones are started twice. */
static void every_mode_delivers(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request sends[3], receives[3];
  int in[3], out[3] = {rank, rank + 100, rank + 200};
  MPI_Rsend_init(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &sends[0]);
  MPI_Ssend_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[1]);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      in[i] = -1;
      MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(2, sends);
    MPI_Irsend(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &sends[2]);
    MPI_Waitall(3, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) CHECK(in[i] == left + 100 * i);
  }
  MPI_Request_free(&sends[0]);
  MPI_Request_free(&sends[1]);
}

static void large_numbers_of_types(void) {
  MPI_Count lb, extent, bytes;
  MPI_Datatype type;
  const int lengths[] = {2, 1}, places[] = {0, 5};
  const MPI_Aint byte_places[] = {8, 40};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  CHECK(MPI_Type_get_extent_x(type, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 24);
  CHECK(MPI_Type_size_x(type, &bytes) == MPI_SUCCESS && bytes == 12);
  MPI_Type_free(&type);
  MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
  CHECK(MPI_Type_size_x(type, &bytes) == MPI_SUCCESS && bytes == 16);
  MPI_Type_free(&type);
  MPI_Type_create_hindexed(2, lengths, byte_places, MPI_INT, &type);
  CHECK(MPI_Type_get_true_extent_x(type, &lb, &extent) == MPI_SUCCESS && lb == 8 && extent == 36);
  MPI_Type_free(&type);
}

static int copies, deletions;
static int copy(MPI_Datatype type, int key, void* state, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)state;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_one(MPI_Datatype type, int key, void* value, void* state) {
  (void)type, (void)key, (void)value, (void)state;
  ++deletions;
  return MPI_SUCCESS;
}

static void types_have_attributes(void) {
  int key, flag = 0, value = 4;
  void* found = NULL;
  MPI_Datatype one, two;
  MPI_Type_contiguous(2, MPI_INT, &one);
  CHECK(MPI_Type_create_keyval(copy, delete_one, &key, NULL) == MPI_SUCCESS);
  CHECK(MPI_Type_get_attr(one, key, &found, &flag) == MPI_SUCCESS && !flag);
  CHECK(MPI_Type_set_attr(one, key, &value) == MPI_SUCCESS);
  MPI_Type_dup(one, &two);
  CHECK(MPI_Type_get_attr(two, key, &found, &flag) == MPI_SUCCESS && flag && found == &value);
  CHECK(copies == 1 && deletions == 0);
  CHECK(MPI_Type_delete_attr(one, key) == MPI_SUCCESS && deletions == 1);
  MPI_Type_free(&two);
  CHECK(deletions == 2);
  MPI_Type_free(&one);
  CHECK(MPI_Type_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
}

static void sum_count(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Scans and a barrier in the forms that other tests leave out, with an operator of large counts. */
static void scans_in_every_form(void) {
  MPI_Op sum;
  MPI_Request request;
  int own = rank + 1, got = -1;
  CHECK(MPI_Op_create_c(sum_count, 1, &sum) == MPI_SUCCESS);
  MPI_Iscan(&own, &got, 1, MPI_INT, sum, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == (rank + 1) * (rank + 2) / 2);
  got = 0;
  MPI_Iexscan(&own, &got, 1, MPI_INT, sum, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == (rank == 0 ? 0 : rank * (rank + 1) / 2));
  for (int form = 0; form < 3; ++form) {
    if (form == 0)
      MPI_Scan_init(&own, &got, 1, MPI_INT, sum, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (form == 1)
      MPI_Exscan_init(&own, &got, 1, MPI_INT, sum, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (form == 2) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; ++round) {
      got = 0;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (form == 0) CHECK(got == (rank + 1) * (rank + 2) / 2);
      if (form == 1) CHECK(got == (rank == 0 ? 0 : rank * (rank + 1) / 2));
    }
    MPI_Request_free(&request);
  }
  MPI_Op_free(&sum);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(MPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL);
  fields_are_set_and_read();
  requests_are_looked_at_and_stay();
  every_mode_delivers();
  large_numbers_of_types();
  types_have_attributes();
  scans_in_every_form();
  return finish();
}
