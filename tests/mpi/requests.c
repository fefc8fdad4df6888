/* All ways of completing operations; persistent requests, cancelling, generalised requests. */
#include "check.h"

static int rank, size, next, before;

static void some_and_any(void) {
  enum { many = 8 };
  int in[many], out[many], indices[many], seen[many] = {0}, index = -1, flag = 0, count = 0;
  MPI_Request received[many + 1], sent[many];
  MPI_Status statuses[many];
  for (int i = 0; i < many; ++i) {
    in[i] = -1, out[i] = rank * 10 + i;
    MPI_Irecv(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &received[i]);
  }
  received[many] = MPI_REQUEST_NULL;
  for (int i = many - 1; i >= 0; --i) {
    MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &sent[i]);
  }
  MPI_Waitany(many + 1, received, &index, &statuses[0]);
  CHECK(index >= 0 && index < many && received[index] == MPI_REQUEST_NULL);
  CHECK(in[index] == before * 10 + index && statuses[0].MPI_TAG == index);
  seen[index] = 1;
  MPI_Waitsome(many + 1, received, &count, indices, statuses);
  CHECK(count >= 1 && count < many);
  for (int i = 0; i < count; ++i) {
    CHECK(!seen[indices[i]] && statuses[i].MPI_TAG == indices[i]);
    seen[indices[i]] = 1;
  }
  do MPI_Testall(many + 1, received, &flag, MPI_STATUSES_IGNORE);
  while (!flag);
  for (int i = 0; i < many; ++i) CHECK(in[i] == before * 10 + i);
  MPI_Waitany(many + 1, received, &index, statuses);
  CHECK(index == MPI_UNDEFINED && statuses[0].MPI_TAG == MPI_ANY_TAG);
  MPI_Waitsome(many + 1, received, &count, indices, statuses);
  CHECK(count == MPI_UNDEFINED);
  MPI_Testany(many + 1, received, &index, &flag, statuses);
  CHECK(flag && index == MPI_UNDEFINED);
  MPI_Waitall(many, sent, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
  int out = 0, in = -1, flag = 0;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Send_init(&out, 1, MPI_INT, next, 50, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, before, 50, MPI_COMM_WORLD, &requests[1]);
  MPI_Test(&requests[1], &flag, &status);
  CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE); /* inactive: an empty status */
  for (int i = 0; i < 20; ++i) {
    out = rank + i;
    MPI_Startall(2, requests);
    REFUSED(MPI_Start(&requests[0]), MPI_ERR_REQUEST, "started already");
    MPI_Wait(&requests[1], &status);
    CHECK(in == before + i && status.MPI_SOURCE == before && requests[1] != MPI_REQUEST_NULL);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void cancelled(void) {
  int value = 3, in = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, before, 60, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag && value == 3);
  MPI_Isend(&value, 1, MPI_INT, next, 61, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Recv(&in, 1, MPI_INT, before, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(!flag && in == 3);
}

static void looked_at(void) {
  int value = rank, in = -1, flag = 0, index = -1;
  MPI_Request request, sent;
  MPI_Status status;
  MPI_Irecv(&in, 1, MPI_INT, before, 70, MPI_COMM_WORLD, &request);
  MPI_Isend(&value, 1, MPI_INT, next, 70, MPI_COMM_WORLD, &sent);
  do MPI_Request_get_status(request, &flag, &status);
  while (!flag);
  CHECK(in == before && status.MPI_TAG == 70 && request != MPI_REQUEST_NULL);
  MPI_Request_get_status_any(1, &request, &index, &flag, &status);
  CHECK(flag && index == 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
  CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

/* Freed at once: the messages arrive nevertheless. */
static void given_up(void) {
  enum { many = 100 };
  static int out[many];
  for (int i = 0; i < many; ++i) {
    MPI_Request request;
    out[i] = i + rank;
    MPI_Isend(&out[i], 1, MPI_INT, next, 80, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  for (int i = 0; i < many; ++i) {
    int in = -1;
    MPI_Recv(&in, 1, MPI_INT, before, 80, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == i + before);
  }
}

static void errors_of_several(void) {
  int out[4] = {0}, small = 0, fine = 0;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Irecv(&fine, 1, MPI_INT, before, 90, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&small, 1, MPI_INT, before, 91, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, 4, MPI_INT, next, 91, MPI_COMM_WORLD, &requests[2]);
  MPI_Send(out, 1, MPI_INT, next, 90, MPI_COMM_WORLD);
  REFUSED(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS, "longer than the 4 bytes");
  CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
  CHECK(statuses[2].MPI_ERROR == MPI_SUCCESS && requests[1] == MPI_REQUEST_NULL);
}

static int queried, freed;

static int query(void* extra, MPI_Status* status) {
  ++queried;
  MPI_Status_set_elements(status, MPI_INT, 7);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = *(int*)extra;
  status->MPI_TAG = 4;
  return MPI_SUCCESS;
}
static int free_it(void* extra) {
  (void)extra;
  ++freed;
  return MPI_SUCCESS;
}
static int cancel_it(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

static void generalised(void) {
  int extra = 11, flag = 1, count = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Grequest_start(query, free_it, cancel_it, &extra, &request);
  MPI_Test(&request, &flag, &status);
  CHECK(!flag && queried == 0);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(queried == 1 && freed == 1 && status.MPI_SOURCE == 11 && count == 7);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size, before = (rank + size - 1) % size;
  some_and_any();
  persistent();
  cancelled();
  looked_at();
  given_up();
  errors_of_several();
  generalised();
  return finish();
}
