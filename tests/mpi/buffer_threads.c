/* Threads that send from one buffer while others wait until it is empty. Every message goes from a
 * rank to itself, on communicators of its own. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { large = 1 << 20, rounds = 100, sender_count = 3 };

static MPI_Comm comm;              /* whose buffer this is */
static char out[large], in[large]; /* of the large messages, all alike */
static pthread_barrier_t begun;

static void* flush_once(void* unused) {
  pthread_barrier_wait(&begun);
  return MPI_Comm_flush_buffer(comm) == MPI_SUCCESS ? unused : NULL;
}

static void* detach_once(void* unused) {
  void* back = NULL;
  int bytes = -1;
  pthread_barrier_wait(&begun);
  MPI_Comm_detach_buffer(comm, &back, &bytes);
  return back == unused ? unused : NULL;
}

/* A second thread flushes or detaches the buffer, which has to wait for the large message. Only
 * this thread can receive that message, and it sends others from the same buffer first. */
static void others_send_while_one_waits(void* memory, int bytes, void* (*body)(void*)) {
  for (int i = 0; i < rounds; ++i) {
    pthread_t waiting;
    void* how = NULL;
    MPI_Request request;
    int value = -1, kind, code, last;
    CHECK(MPI_Comm_attach_buffer(comm, memory, bytes) == MPI_SUCCESS);
    out[large - 1] = (char)i;
    CHECK(MPI_Bsend(out, large, MPI_CHAR, 0, 0, comm) == MPI_SUCCESS);
    pthread_create(&waiting, NULL, body, memory);
    pthread_barrier_wait(&begun);
    last = -1;
    for (int j = 0; j < 20; ++j) {
      code = MPI_Ibsend(&j, 1, MPI_INT, 0, 1 + j, comm, &request);
      if (code == MPI_SUCCESS) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        last = j;
      } else { /* it is detached */
        MPI_Error_class(code, &kind);
        CHECK(kind == MPI_ERR_BUFFER && body == detach_once);
      }
    }
    CHECK(last == 19 || body == detach_once);
    MPI_Recv(in, large, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
    CHECK(in[large - 1] == (char)i);
    for (int j = 0; j <= last; ++j) {
      MPI_Recv(&value, 1, MPI_INT, 0, 1 + j, comm, MPI_STATUS_IGNORE);
      CHECK(value == j);
    }
    pthread_join(waiting, &how);
    CHECK(how == memory);
    if (body != detach_once) {
      void* back = NULL;
      int got = -1;
      MPI_Comm_detach_buffer(comm, &back, &got);
      CHECK(back == memory);
    }
  }
}

/* A flush waits for what is in the buffer when it begins, and for nothing that comes later. */
static void a_flush_waits_for_earlier_messages_only(void* memory, int bytes) {
  MPI_Request flushed;
  void* back;
  int got, done = -1;
  MPI_Comm_attach_buffer(comm, memory, bytes);
  MPI_Bsend(out, large, MPI_CHAR, 0, 1, comm);
  MPI_Comm_iflush_buffer(comm, &flushed);
  MPI_Bsend(out, large, MPI_CHAR, 0, 2, comm);
  MPI_Test(&flushed, &done, MPI_STATUS_IGNORE);
  CHECK(!done);
  MPI_Recv(in, large, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&flushed, MPI_STATUS_IGNORE);
  MPI_Recv(in, large, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
  MPI_Comm_flush_buffer(comm);
  MPI_Comm_detach_buffer(comm, &back, &got);
}

static MPI_Comm of_sender[sender_count];
static int senders_left;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static int is_over(void) {
  pthread_mutex_lock(&counting);
  int over = senders_left == 0;
  pthread_mutex_unlock(&counting);
  return over;
}

static void* send_often(void* own) {
  const int lengths[] = {1, 100, 30000};
  int* data = malloc(30000 * sizeof *data);
  for (int i = 0; i < rounds; ++i) {
    int length = lengths[i % 3], code;
    data[length - 1] = i;
    code = MPI_Bsend(data, length, MPI_INT, 0, i, *(MPI_Comm*)own);
    if (code != MPI_SUCCESS) continue; /* no buffer at this moment, or no room in it */
    data[length - 1] = -1;
    MPI_Recv(data, length, MPI_INT, 0, i, *(MPI_Comm*)own, MPI_STATUS_IGNORE);
    if (data[length - 1] != i) fprintf(stderr, "a message is wrong\n"), abort();
  }
  pthread_mutex_lock(&counting);
  --senders_left;
  pthread_mutex_unlock(&counting);
  free(data);
  return NULL;
}

static void* flush_often(void* unused) {
  while (!is_over()) {
    MPI_Request request;
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return unused;
}

static void* detach_often(void* unused) {
  while (!is_over()) {
    void *memory = malloc(200000), *back = NULL;
    int bytes = -1;
    MPI_Buffer_attach(memory, 200000);
    MPI_Buffer_flush();
    MPI_Buffer_detach(&back, &bytes);
    if (back != memory) fprintf(stderr, "another buffer was detached\n"), abort();
    memset(memory, 0, 200000); /* the library uses it no longer */
    free(memory);
  }
  return unused;
}

static void many_threads_send_flush_and_detach(void) {
  pthread_t threads[sender_count + 3];
  senders_left = sender_count;
  for (int i = 0; i < sender_count; ++i)
    pthread_create(&threads[i], NULL, send_often, &of_sender[i]);
  pthread_create(&threads[sender_count], NULL, flush_often, NULL);
  pthread_create(&threads[sender_count + 1], NULL, flush_often, NULL);
  pthread_create(&threads[sender_count + 2], NULL, detach_often, NULL);
  for (int i = 0; i < sender_count + 3; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int provided = -1, bytes = 2 * large + 21 * (MPI_BSEND_OVERHEAD + (int)sizeof(int));
  void* memory = malloc((size_t)bytes);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < sender_count; ++i) MPI_Comm_dup(comm, &of_sender[i]);
  pthread_barrier_init(&begun, NULL, 2);
  others_send_while_one_waits(memory, bytes, flush_once);
  others_send_while_one_waits(memory, bytes, detach_once);
  a_flush_waits_for_earlier_messages_only(memory, bytes);
  many_threads_send_flush_and_detach();
  pthread_barrier_destroy(&begun);
  for (int i = 0; i < sender_count; ++i) MPI_Comm_free(&of_sender[i]);
  MPI_Comm_free(&comm);
  free(memory);
  return finish();
}
