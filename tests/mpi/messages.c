/* Messages between all pairs: every mode and size, wildcards, order, probes, MPI_PROC_NULL. */
#include "check.h"

static int rank, size;

static const int lengths[] = {0, 1, 7, 64, 1000, 5000, 70000, 300000};
enum { length_count = sizeof lengths / sizeof lengths[0], largest = 300000 };

static void fill(unsigned char* data, int length, int from, int to) {
  for (int i = 0; i < length; ++i) data[i] = (unsigned char)(i * 7 + from * 31 + to * 17 + length);
}

static int is_filled(const unsigned char* data, int length, int from, int to) {
  for (int i = 0; i < length; ++i) {
    if (data[i] != (unsigned char)(i * 7 + from * 31 + to * 17 + length)) return 0;
  }
  return 1;
}

typedef int send_call(const void*, int, MPI_Datatype, int, int, MPI_Comm);

/* A ring: each rank sends to the next one and receives from the previous one. */
static void every_mode_and_size(void) {
  send_call* const modes[] = {MPI_Send, MPI_Ssend, MPI_Rsend};
  unsigned char *out = malloc(largest), *in = malloc(largest);
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int mode = 0; mode < 3; ++mode) {
    for (int i = 0; i < length_count; ++i) {
      MPI_Request request;
      MPI_Status status;
      int count = -1;
      memset(in, 0, largest);
      fill(out, lengths[i], rank, next);
      MPI_Irecv(in, largest, MPI_BYTE, before, 10 + i, MPI_COMM_WORLD, &request);
      /* For the ready mode: the receive of the next rank must be there. */
      MPI_Sendrecv(NULL, 0, MPI_INT, before, 5, NULL, 0, MPI_INT, next, 5, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      CHECK(modes[mode](out, lengths[i], MPI_BYTE, next, 10 + i, MPI_COMM_WORLD) == MPI_SUCCESS);
      MPI_Wait(&request, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK(count == lengths[i] && status.MPI_SOURCE == before && status.MPI_TAG == 10 + i);
      CHECK(is_filled(in, lengths[i], before, rank));
    }
  }
  free(out);
  free(in);
}

/* Many messages with one tag come in the order in which they were sent, whatever their sizes. */
static void order(void) {
  enum { many = 50 };
  static int out[many][600], in[600];
  MPI_Request requests[many];
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < many; ++i) {
    for (int j = 0; j < 600; ++j) out[i][j] = i;
    MPI_Isend(out[i], 1 + (i * 97) % 600, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < many; ++i) {
    MPI_Status status;
    int count;
    MPI_Recv(in, 600, MPI_INT, i % 2 ? before : MPI_ANY_SOURCE, i % 3 ? 3 : MPI_ANY_TAG,
             MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(in[0] == i && count == 1 + (i * 97) % 600 && in[count - 1] == i);
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
}

/* Tags are distinguished, and unexpected messages are kept until they are received. */
static void tags(void) {
  int values[3] = {rank, rank + 100, rank + 200}, got = -1;
  MPI_Request requests[3];
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < 3; ++i) {
    MPI_Isend(&values[i], 1, MPI_INT, next, 20 + i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 2; i >= 0; --i) {
    MPI_Recv(&got, 1, MPI_INT, before, 20 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == before + 100 * i);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void probes(void) {
  double out[3] = {1.5, 2.5, rank}, in[3] = {0, 0, 0};
  int next = (rank + 1) % size, before = (rank + size - 1) % size, flag = 0, count = 0;
  MPI_Request request, received;
  MPI_Message message;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status);
  CHECK(!flag);
  MPI_Isend(out, 3, MPI_DOUBLE, next, 30, MPI_COMM_WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(status.MPI_SOURCE == before && count == 3);
  MPI_Recv(in, 3, MPI_DOUBLE, status.MPI_SOURCE, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[2] == before);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Isend(out, 2, MPI_DOUBLE, next, 31, MPI_COMM_WORLD, &request);
  MPI_Mprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  CHECK(status.MPI_TAG == 31 && message != MPI_MESSAGE_NULL);
  MPI_Iprobe(before, 31, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag); /* it is taken */
  in[0] = 0;
  MPI_Mrecv(in, 3, MPI_DOUBLE, &message, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(message == MPI_MESSAGE_NULL && in[0] == 1.5 && count == 2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Isend(out, 3, MPI_DOUBLE, next, 32, MPI_COMM_WORLD, &request);
  do MPI_Improbe(before, 32, MPI_COMM_WORLD, &flag, &message, &status);
  while (!flag);
  in[2] = -1;
  MPI_Imrecv(in, 3, MPI_DOUBLE, &message, &received);
  MPI_Wait(&received, MPI_STATUS_IGNORE);
  CHECK(in[2] == before);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void no_process(void) {
  int value = 5, flag = 0, count = -1;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  CHECK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
  MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && value == 5);
}

static void replaced(void) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  static int data[40000];
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < 40000; ++i) data[i] = rank * 100000 + i;
  MPI_Sendrecv_replace(data, 40000, MPI_INT, next, 40, before, 40, MPI_COMM_WORLD, &status);
  CHECK(data[0] == before * 100000 && data[39999] == before * 100000 + 39999);
  CHECK(status.MPI_SOURCE == before);
  MPI_Isendrecv_replace(data, 40000, MPI_INT, before, 41, next, 41, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  CHECK(data[0] == rank * 100000 && data[39999] == rank * 100000 + 39999);
  MPI_Isendrecv(&rank, 1, MPI_INT, next, 42, data, 1, MPI_INT, before, 42, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, &status);
  CHECK(data[0] == before && status.MPI_TAG == 42);
}

static void large_counts(void) {
  int out[2] = {rank, 9}, in[2] = {0, 0};
  MPI_Count count = 0;
  MPI_Status status;
  MPI_Sendrecv_c(out, 2, MPI_INT, (rank + 1) % size, 1, in, 2, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, &status);
  MPI_Get_count_c(&status, MPI_INT, &count);
  CHECK(count == 2 && in[0] == (rank + size - 1) % size && in[1] == 9);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  every_mode_and_size();
  order();
  tags();
  probes();
  no_process();
  replaced();
  large_counts();
  return finish();
}
