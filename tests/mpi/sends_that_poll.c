/* A rank that starts many sends takes in what arrives meanwhile, although it does not wait.
   To be run without background progression. */
#include "check.h"

enum { count = 64, bytes = 16384, data_tag = 1, ready_tag = 2, early_tag = 3 };

static char sent[count][bytes], received[count][bytes];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = 1 - rank;
  MPI_Request requests[2 * count], early = MPI_REQUEST_NULL;
  volatile int arrived = 0;
  if (rank == 0) MPI_Irecv((void*)&arrived, 1, MPI_INT, peer, early_tag, MPI_COMM_WORLD, &early);
  for (int i = 0; i < count; ++i)
    MPI_Irecv(received[i], bytes, MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, &requests[i]);
  if (rank == 0) {
    /* The message with `early_tag` comes after the other one, so that it has not been taken in. */
    MPI_Send(NULL, 0, MPI_BYTE, peer, ready_tag, MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < 0.1) continue;
    CHECK(arrived == 0);
  } else {
    const int value = 42;
    MPI_Recv(NULL, 0, MPI_BYTE, peer, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, peer, early_tag, MPI_COMM_WORLD);
  }
  for (int i = 0; i < count; ++i) {
    memset(sent[i], i, bytes);
    MPI_Isend(sent[i], bytes, MPI_BYTE, peer, data_tag, MPI_COMM_WORLD, &requests[count + i]);
  }
  if (rank == 0) CHECK(arrived == 42);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  MPI_Wait(&early, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) {
    memset(sent[i], i, bytes);
    CHECK(memcmp(sent[i], received[i], bytes) == 0);
  }
  return finish();
}
