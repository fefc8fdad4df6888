/* Goal: an allreduce through memory that ranks share gives every rank the sum, once the ranks have
 * agreed on that memory and before, and no schedule that was made before is used after that.
 * Method: buffers differ between ranks; calls of several sizes, blocking and not, several at once.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "check_all.h"

enum { buffers = 5, length = 40000 };

static double *from[buffers], *into[buffers];
static double value(int rank, int i, int round) { return rank * 3 + i % 1000 + round; }

static void fill(double* at, int n, int round) {
  for (int i = 0; i < n; ++i) at[i] = value(check_rank, i, round);
}

static void check_sum(const double* at, int n, int round, const char* what) {
  for (int i = 0; i < n; ++i) {
    const double sum = check_size * value(0, i, round) + 3.0 * check_size * (check_size - 1) / 2;
    if (at[i] == sum) continue;
    CHECK(false, "%s, %d elements, round %d: element %d is %g instead of %g", what, n, round, i,
          at[i], sum);
    return;
  }
}

/* Small ones too: their schedules are kept, on each rank for the buffers that it used last. */
static void blocking(void) {
  const int counts[] = {1, 100, 1000, length};
  for (int round = 0; round < 60; ++round) {
    const int n = counts[round % 4];
    const int mine = (round + check_rank * round / 3) % buffers;
    fill(from[mine], n, round);
    MPI_Allreduce(from[mine], into[mine], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sum(into[mine], n, round, "blocking");
    MPI_Allreduce(MPI_IN_PLACE, from[mine], n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sum(from[mine], n, round, "in place");
  }
}

/* A schedule that was made before the ranks agreed, and is still kept on one of them. */
static void kept_on_one_rank(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 12; ++round) {
    const int mine = check_rank == 0 || round < 3 ? 0 : 1;
    fill(from[mine], 100, round);
    MPI_Allreduce(from[mine], into[mine], 100, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(into[mine], 100, round, "kept");
  }
  MPI_Comm_free(&comm);
}

static void several_at_once(void) {
  MPI_Request requests[buffers];
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < buffers; ++i) {
      fill(from[i], length, round + i);
      MPI_Iallreduce(from[i], into[i], length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(buffers, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < buffers; ++i) check_sum(into[i], length, round + i, "non-blocking");
  }
}

static void persistent(void) {
  MPI_Request request;
  MPI_Allreduce_init(from[0], into[0], length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
  for (int round = 0; round < 10; ++round) {
    fill(from[0], length, round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(into[0], length, round, "persistent");
  }
  MPI_Request_free(&request);
}

/* Nothing is written behind the end of a buffer. */
static void unequal_counts_are_errors(void) {
  if (check_size == 1) return;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4; ++i) MPI_Barrier(comm);
  fill(from[0], length, 0);
  for (int i = 0; i < length; ++i) into[0][i] = -1;
  const int n = check_rank == 1 ? length : length / 2;
  const int code = MPI_Allreduce(from[0], into[0], n, MPI_DOUBLE, MPI_SUM, comm);
  CHECK(code != MPI_SUCCESS, "%d elements, others %d: no error", n, length * 3 / 2 - n);
  for (int i = n; i < length; ++i) CHECK(into[0][i] == -1, "element %d was written", i);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int i = 0; i < buffers; ++i) {
    from[i] = malloc(sizeof(double) * length);
    into[i] = malloc(sizeof(double) * length);
  }
  blocking();
  kept_on_one_rank();
  several_at_once();
  persistent();
  unequal_counts_are_errors();
  for (int i = 0; i < buffers; ++i) {
    free(from[i]);
    free(into[i]);
  }
  return check_end("shared");
}
