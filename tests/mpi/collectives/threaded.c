/* Goal: collective operations of several threads of a rank, each on a communicator of its own, do
 * not disturb each other.
 * Method: each thread goes through the operations with values that only it has. Run under
 * ThreadSanitizer, too. */
#include <pthread.h>

#include "patterns.h"

enum { thread_count = 3, rounds = 20, large = 6000 };

static MPI_Comm comms[thread_count];

static void reduce_and_spread(MPI_Comm comm, int thread, int round, long* data, long* result) {
  const int count = round % 3 == 0 ? large : 1, root = round % check_size;
  for (int i = 0; i < count; ++i) data[i] = value_of(check_rank, thread, i);
  CHECK_OK(MPI_Allreduce(data, result, count, MPI_LONG, MPI_SUM, comm));
  long last = 0;
  for (int rank = 0; rank < check_size; ++rank) last += value_of(rank, thread, count - 1);
  CHECK(result[count - 1] == last, "thread %d: sum %ld", thread, result[count - 1]);
  CHECK_OK(MPI_Reduce(data, result, count, MPI_LONG, MPI_MAX, root, comm));
  CHECK(check_rank != root || result[0] == value_of(check_size - 1, thread, 0),
        "thread %d: maximum %ld", thread, result[0]);
  CHECK_OK(MPI_Bcast(data, count, MPI_LONG, root, comm));
  CHECK(data[count - 1] == value_of(root, thread, count - 1), "thread %d: broadcast", thread);
}

static void exchange(MPI_Comm comm, int thread, int round, long* data, long* result) {
  MPI_Request request;
  for (int i = 0; i < check_size; ++i) data[i] = value_of(check_rank, thread, round + i);
  CHECK_OK(MPI_Ialltoall(data, 1, MPI_LONG, result, 1, MPI_LONG, comm, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < check_size; ++i)
    CHECK(result[i] == value_of(i, thread, round + check_rank), "thread %d: alltoall", thread);
  CHECK_OK(MPI_Allgather(data, 1, MPI_LONG, result, 1, MPI_LONG, comm));
  for (int i = 0; i < check_size; ++i)
    CHECK(result[i] == value_of(i, thread, round), "thread %d: allgather", thread);
  CHECK_OK(MPI_Barrier(comm));
}

static void* work(void* argument) {
  const int thread = *(int*)argument;
  long* const data = malloc(large * sizeof *data);
  long* const result = malloc(large * sizeof *result);
  for (int round = 0; round < rounds; ++round) {
    reduce_and_spread(comms[thread], thread, round, data, result);
    exchange(comms[thread], thread, round, data, result);
  }
  free(result);
  free(data);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[thread_count];
  int numbers[thread_count], provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  CHECK(provided == MPI_THREAD_MULTIPLE, "%d", provided);
  for (int i = 0; i < thread_count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < thread_count; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < thread_count; ++i) MPI_Comm_free(&comms[i]);
  return check_end("threaded");
}
