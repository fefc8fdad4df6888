/* Goal: a process that dies is an event on each process that exchanges messages with it, once, with
 * its number; it is there before the operation that waits for the process ends.
 * Method: the last rank kills itself, and the others wait for a message from it. Rank 0 gathers
 * what they saw. Started with --keep-going. */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static atomic_int seen, wrong;

static void on_lost(MPI_T_event_instance event, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
  unsigned long long peer = 0;
  MPI_Count when = 0;
  (void)registration, (void)safety;
  int good = MPI_T_event_read(event, 0, &peer) == MPI_SUCCESS && peer == *(unsigned*)user_data;
  good = good && MPI_T_event_get_timestamp(event, &when) == MPI_SUCCESS && when > 0;
  atomic_fetch_add(&wrong, !good);
  atomic_fetch_add(&seen, 1);
}

static void wait_for_what_never_comes(unsigned from) {
  int data, class = MPI_SUCCESS;
  const int code = MPI_Recv(&data, 1, MPI_INT, (int)from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_PROC_ABORTED);
  CHECK(seen == 1 && wrong == 0);
}

int main(int argc, char** argv) {
  int index, data = 0;
  MPI_T_event_registration registration;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0}) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  unsigned last = (unsigned)size - 1;
  CHECK(MPI_T_event_get_index("packets.peer_lost", &index) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
  CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                      &last, on_lost) == MPI_SUCCESS);
  if (rank == (int)last) {
    for (int other = 0; other < rank; ++other)
      MPI_Recv(&data, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  MPI_Send(&data, 1, MPI_INT, (int)last, 1, MPI_COMM_WORLD);
  wait_for_what_never_comes(last);
  if (rank != 0) {
    MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&failures, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  for (int other = 1; rank == 0 && other < (int)last; ++other) { /* they leave after that */
    MPI_Send(&data, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failures += data;
  }
  if (rank == 0 && failures == 0) printf("each other rank has seen the loss of rank %u\n", last);
  fflush(stdout);
  _exit(failures != 0); /* MPI_Finalize would wait for the lost rank */
}
