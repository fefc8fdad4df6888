/* Two ranks exchange what makes the library call the kernel: messages of three sizes in both
 * directions and from two threads, a collective operation, windows of every kind. Every value is
 * checked. Exit status 0: all were right. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { small = 8, medium = 100 << 10, large = 2 << 20, elements = 1000 };

static int rank, other;

static unsigned char byte_at(int at, int from) {
  return (unsigned char)(at * 7 + at / 251 + 13 * from);
}

static int wrong_bytes(const unsigned char* bytes, int size, int from) {
  int wrong = 0;
  for (int at = 0; at < size; ++at) wrong += bytes[at] != byte_at(at, from);
  return wrong;
}

/* Computes for a moment while the messages move. */
static int exchange(MPI_Comm comm, int size) {
  unsigned char* const out = malloc((size_t)size);
  unsigned char* const in = calloc((size_t)size, 1);
  MPI_Request both[2];
  for (int at = 0; at < size; ++at) out[at] = byte_at(at, rank);
  MPI_Irecv(in, size, MPI_BYTE, other, size, comm, &both[0]);
  MPI_Isend(out, size, MPI_BYTE, other, size, comm, &both[1]);
  usleep(2000);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  const int wrong = wrong_bytes(in, size, other);
  free(in);
  free(out);
  return wrong;
}

static int wrong_of_thread;

static void* exchange_in_thread(void* comm) {
  for (int turn = 0; turn < 3; ++turn) wrong_of_thread += exchange(*(MPI_Comm*)comm, medium);
  return NULL;
}

static int exchange_from_two_threads(void) {
  MPI_Comm second;
  pthread_t thread;
  int wrong = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  if (pthread_create(&thread, NULL, exchange_in_thread, &second) != 0) return 0;
  for (int turn = 0; turn < 3; ++turn) wrong += exchange(MPI_COMM_WORLD, small);
  pthread_join(thread, NULL);
  MPI_Comm_free(&second);
  return wrong + wrong_of_thread;
}

static int reduce(void) {
  int sums[elements], own[elements], wrong = 0;
  for (int at = 0; at < elements; ++at) own[at] = at + rank;
  MPI_Allreduce(own, sums, elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int at = 0; at < elements; ++at) wrong += sums[at] != 2 * at + 1;
  return wrong;
}

/* Each rank puts its numbers into the other's window, and gets them back. */
static int put_and_get(MPI_Win window, const int* own_part) {
  int out[elements], back[elements], wrong = 0;
  for (int at = 0; at < elements; ++at) out[at] = 3 * at + rank;
  MPI_Win_fence(0, window);
  MPI_Put(out, elements, MPI_INT, other, 0, elements, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int at = 0; at < elements; ++at) wrong += own_part[at] != 3 * at + other;
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
  MPI_Get(back, elements, MPI_INT, other, 0, elements, MPI_INT, window);
  MPI_Win_unlock(other, window);
  for (int at = 0; at < elements; ++at) wrong += back[at] != out[at];
  MPI_Win_fence(0, window);
  MPI_Accumulate(out, elements, MPI_INT, other, 0, elements, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  for (int at = 0; at < elements; ++at) wrong += own_part[at] != 2 * (3 * at + other);
  return wrong;
}

static int use_windows(int shared) {
  const MPI_Aint bytes = elements * sizeof(int);
  MPI_Win window;
  int* part;
  int wrong = 0;
  MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  memset(part, 0, (size_t)bytes);
  wrong += put_and_get(window, part);
  MPI_Win_free(&window);
  part = calloc(elements, sizeof(int));
  MPI_Win_create(part, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  wrong += put_and_get(window, part);
  MPI_Win_free(&window);
  free(part);
  if (!shared) return wrong;
  MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  memset(part, 0, (size_t)bytes);
  wrong += put_and_get(window, part);
  MPI_Win_free(&window);
  return wrong;
}

/* Whether both ranks are where windows can be shared. */
static int is_shared(void) {
  MPI_Comm node;
  int ranks;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks == 2;
}

int main(int argc, char** argv) {
  int given;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  int wrong = exchange(MPI_COMM_WORLD, small) + exchange(MPI_COMM_WORLD, large);
  wrong += exchange_from_two_threads();
  wrong += reduce();
  wrong += use_windows(is_shared());
  if (wrong) fprintf(stderr, "rank %d: %d values are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong ? 3 : 0;
}
