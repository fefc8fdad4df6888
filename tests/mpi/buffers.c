/* Buffered sends: in the process's buffer, a communicator's own, and an automatic one. */
#include "check.h"

static int rank, size, next, before;

static void receive_all(MPI_Comm comm, int count) {
  for (int i = 0; i < count; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, before, i, comm, MPI_STATUS_IGNORE);
    CHECK(value == before + i);
  }
}

static void of_the_process(void) {
  enum { many = 10 };
  int bytes = many * (MPI_BSEND_OVERHEAD + (int)sizeof(int)), got = 0;
  void *memory = malloc((size_t)bytes), *back = NULL;
  MPI_Request request;
  CHECK(MPI_Buffer_attach(memory, bytes) == MPI_SUCCESS);
  REFUSED(MPI_Buffer_attach(memory, bytes), MPI_ERR_BUFFER, "attached already");
  for (int i = 0; i < many; ++i) {
    int value = rank + i;
    CHECK(MPI_Bsend(&value, 1, MPI_INT, next, i, MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  receive_all(MPI_COMM_WORLD, many);
  CHECK(MPI_Buffer_iflush(&request) == MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
  CHECK(MPI_Buffer_detach(&back, &got) == MPI_SUCCESS && back == memory && got == bytes);
  free(memory);
}

static void too_small(void) {
  static char data[4000];
  char memory[1000];
  void* back;
  int got;
  MPI_Buffer_attach(memory, sizeof memory);
  REFUSED(MPI_Bsend(data, 4000, MPI_BYTE, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER,
          "no room for 4000 more");
  MPI_Buffer_detach(&back, &got);
}

static void of_a_communicator(void) {
  MPI_Comm comm;
  char memory[4096];
  void* back = NULL;
  int value, got = 0;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(MPI_Comm_attach_buffer(comm, memory, sizeof memory) == MPI_SUCCESS);
  REFUSED(MPI_Bsend(&rank, 1, MPI_INT, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER,
          "no buffer is attached");
  value = rank;
  MPI_Ibsend(&value, 1, MPI_INT, next, 0, comm, &request);
  value = rank + 1; /* the first one is copied: this changes nothing of it */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bsend(&value, 1, MPI_INT, next, 1, comm);
  receive_all(comm, 2);
  CHECK(MPI_Comm_flush_buffer(comm) == MPI_SUCCESS);
  CHECK(MPI_Comm_detach_buffer(comm, &back, &got) == MPI_SUCCESS && back == memory);
  MPI_Comm_free(&comm);
}

static void automatic(void) {
  static int large[30000], in[30000];
  void* back = NULL;
  int got = -1;
  MPI_Request persistent;
  CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
  large[29999] = rank;
  MPI_Bsend(large, 30000, MPI_INT, next, 3, MPI_COMM_WORLD);
  large[29999] = -1;
  MPI_Recv(in, 30000, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[29999] == before);
  MPI_Bsend_init(large, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &persistent);
  for (int i = 0; i < 3; ++i) {
    large[0] = rank + i;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Recv(in, 1, MPI_INT, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == before + i);
  }
  MPI_Request_free(&persistent);
  CHECK(MPI_Buffer_detach(&back, &got) == MPI_SUCCESS && back == MPI_BUFFER_AUTOMATIC);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size, before = (rank + size - 1) % size;
  of_the_process();
  too_small();
  of_a_communicator();
  automatic();
  return finish();
}
