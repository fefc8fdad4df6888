/* Three ranks whose calls a timeline should join by arrows, each kind of operation once. */
#include <mpi.h>
#include <stddef.h>

static void partitioned(int rank) {
  enum { sent = 4, received = 2, each = 1000 };
  static char memory[sent * each];
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0)
    MPI_Psend_init(memory, sent, each, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank == 1)
    MPI_Precv_init(memory, received, 2 * each, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  if (rank == 2) return;
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    for (int i = 0; rank == 0 && i < sent; ++i) MPI_Pready(i, request);
    for (int flag = rank == 0; !flag;) MPI_Parrived(request, 0, &flag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void collectives(void) {
  int one = 1, sum = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(&one, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(requests);
  MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void neighbors(void) {
  const int size = 3, line = 0;
  int one = 1, both[2] = {0, 0};
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &line, 0, &row);
  MPI_Neighbor_allgather(&one, 1, MPI_INT, both, 1, MPI_INT, row);
  MPI_Comm_free(&row);
}

static void window(int rank) {
  double* memory = NULL;
  const double value = 1;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, "shared value");
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Group all = MPI_GROUP_NULL, one = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &all);
  const int other = rank == 0 ? 1 : 0;
  MPI_Group_incl(all, 1, &other, &one);
  if (rank == 0) {
    MPI_Win_start(one, 0, win);
    MPI_Accumulate(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_complete(win);
  }
  if (rank == 1) {
    MPI_Win_post(one, 0, win);
    MPI_Win_wait(win);
  }
  MPI_Group_free(&one);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partitioned(rank);
  collectives();
  neighbors();
  window(rank);
  MPI_Finalize();
  return 0;
}
