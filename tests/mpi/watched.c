/// Sends a message of a recognisable size to a rank that does not call MPI meanwhile, so that its
/// background threads move it; repeats that for so many seconds as the argument says, slowly enough
/// for other processes to read the statistics.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { bytes = 3000017 };  // more than a blocking call sends without a rendezvous

/// Waits in the kernel for the other rank's signal.
static void await(const sigset_t* signals) {
  int number = 0;
  sigwait(signals, &number);
}

static void send(const char* memory, pid_t receiver, const sigset_t* signals) {
  await(signals);  // the receive is posted
  MPI_Send(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  kill(receiver, SIGUSR1);
}

static void receive(char* memory, pid_t sender, const sigset_t* signals) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  kill(sender, SIGUSR1);
  await(signals);  // the message is taken
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* memory = calloc(1, bytes);
  if (memory == NULL) return 1;
  int processes[2] = {0, 0};
  const int own = (int)getpid();
  MPI_Allgather(&own, 1, MPI_INT, processes, 1, MPI_INT, MPI_COMM_WORLD);
  const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
  int more = 1;
  while (more) {
    more = MPI_Wtime() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) send(memory, processes[1], &signals);
    if (rank == 1) receive(memory, processes[0], &signals);
  }
  free(memory);
  MPI_Finalize();
  return 0;
}
