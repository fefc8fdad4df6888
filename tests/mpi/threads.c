/* Threads, each with its own tag and communicators, all at once; and the buffer that they share. */
#include <pthread.h>

#include "check.h"

enum { thread_count = 4, rounds = 200 };

static int rank, size;
static MPI_Comm own[thread_count];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void expect(int holds, const char* what) {
  if (holds) return;
  pthread_mutex_lock(&counting);
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  ++failures;
  pthread_mutex_unlock(&counting);
}

static void* work(void* argument) {
  int me = *(int*)argument, next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < rounds; ++i) {
    int out[2] = {rank, i}, in[2] = {-1, -1};
    MPI_Request requests[2];
    MPI_Irecv(in, 2, MPI_INT, before, me, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 2, MPI_INT, next, me, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(in[0] == before && in[1] == i, "the message of this thread and round");
    MPI_Sendrecv(out, 2, MPI_INT, next, 0, in, 2, MPI_INT, before, 0, own[me], MPI_STATUS_IGNORE);
    expect(in[0] == before && in[1] == i, "the message on this thread's communicator");
  }
  /* Agreements of several threads at once, in no common order. */
  for (int i = 0; i < 10; ++i) {
    MPI_Comm one, two;
    int n = 0;
    MPI_Comm_dup(own[me], &one);
    MPI_Comm_split(one, 0, rank, &two);
    MPI_Comm_size(two, &n);
    expect(n == size, "the size of a copy");
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
  }
  return NULL;
}

static void* attach_often(void* nothing) {
  for (int i = 0; i < rounds; ++i) {
    void* back = NULL;
    int bytes = -1;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Buffer_detach(&back, &bytes);
    expect(back == MPI_BUFFER_AUTOMATIC, "the buffer that was attached");
  }
  return nothing;
}

/* While another thread attaches and detaches the buffer: a message goes whole, or not at all. */
static void* send_buffered(void* with_themselves) {
  for (int i = 0; i < rounds; ++i) {
    int in = -1, kind = MPI_SUCCESS;
    MPI_Comm comm = *(MPI_Comm*)with_themselves;
    int code = MPI_Bsend(&i, 1, MPI_INT, 0, 0, comm);
    if (code == MPI_SUCCESS) {
      MPI_Recv(&in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
      expect(in == i, "the buffered message");
    } else {
      MPI_Error_class(code, &kind);
      expect(kind == MPI_ERR_BUFFER, "no buffer");
    }
  }
  return NULL;
}

static void one_attaches_and_one_sends(void) {
  pthread_t attaching, sending;
  MPI_Comm with_themselves;
  MPI_Comm_dup(MPI_COMM_SELF, &with_themselves);
  MPI_Comm_set_errhandler(with_themselves, MPI_ERRORS_RETURN);
  pthread_create(&attaching, NULL, attach_often, NULL);
  pthread_create(&sending, NULL, send_buffered, &with_themselves);
  pthread_join(attaching, NULL);
  pthread_join(sending, NULL);
  MPI_Comm_free(&with_themselves);
}

int main(int argc, char** argv) {
  int provided = -1, numbers[thread_count];
  pthread_t threads[thread_count];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < thread_count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  for (int i = 0; i < thread_count; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < thread_count; ++i) MPI_Comm_free(&own[i]);
  one_attaches_and_one_sends();
  return finish();
}
