/* Goal: any thread may mark partitions as ready, and ask whether some have arrived, at once.
 * Method: the threads of each process share the partitions; each waits for those that its peer's
 * thread of the same number has sent. ThreadSanitizer runs it as well. */
#include <pthread.h>

#include "check_all.h"

enum { threads = 4, parts_each = 8, parts = threads * parts_each, count = 500, rounds = 20 };

static int out[parts * count], in[parts * count];
static MPI_Request requests[2];
static int round_now;

static void* work(void* argument) {
  const int me = (int)(long)argument, from = (check_rank + check_size - 1) % check_size;
  for (int i = me; i < parts; i += threads) {
    for (int k = 0; k < count; ++k) out[i * count + k] = check_rank + round_now * 7 + i + k;
    CHECK_OK(MPI_Pready(i, requests[0]));
  }
  for (int i = me; i < parts; i += threads) {
    int flag = 0;
    while (!flag) CHECK_OK(MPI_Parrived(requests[1], i, &flag));
    CHECK(in[i * count] == from + round_now * 7 + i &&
              in[i * count + count - 1] == in[i * count] + count - 1,
          "partition %d has %d", i, in[i * count]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  MPI_Psend_init(out, parts, count, MPI_INT, (check_rank + 1) % check_size, 0, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, parts, count, MPI_INT, (check_rank + check_size - 1) % check_size, 0,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (round_now = 0; round_now < rounds; ++round_now) {
    pthread_t team[threads];
    CHECK_OK(MPI_Startall(2, requests));
    for (long i = 0; i < threads; ++i) pthread_create(&team[i], NULL, work, (void*)i);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)); /* while others mark partitions */
    for (int i = 0; i < threads; ++i) pthread_join(team[i], NULL);
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  return check_end("partitioned, threads");
}
