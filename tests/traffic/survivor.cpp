// The errors of the other ranks when a rank is killed during traffic.
//
//   mpiexec -n RANKS --keep-going survivor KIND [unspoken]
//
// Rank 1 kills itself after all ranks have sent, received and reduced; `unspoken`: before any rank
// has sent anything. KIND is what the others are blocked in: receive, any_source, send, probe,
// wait, waitall, allreduce, barrier. With MPI_ERRORS_RETURN
// each must get an error of class MPI_ERR_PROC_ABORTED within two seconds; KIND fatal leaves the
// default handler, which ends the job. Exit code 0: the rank got that error in time.

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int victim = 1;
constexpr double limit_seconds = 2.0;
constexpr int large = 8 << 20;

int rank, size;
std::vector<char> bytes(large);

/// Some rounds of traffic of every kind, so that connections are open and rings in use.
void traffic() {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  std::vector<char> room(large);
  for (int i = 0; i < 20; ++i) {
    const int count = i % 5 == 4 ? large / 8 : 100 * i;
    MPI_Sendrecv(bytes.data(), count, MPI_CHAR, next, 1, room.data(), count, MPI_CHAR, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int mine = rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (size <= 4) {  // every rank sends to every other
    MPI_Alltoall(bytes.data(), 8, MPI_CHAR, room.data(), 8, MPI_CHAR, MPI_COMM_WORLD);
  }
}

int blocked_in(const std::string& kind) {
  MPI_Request both[2];
  MPI_Status status[2];
  int in = rank, out = 0;
  if (kind == "receive")
    return MPI_Recv(bytes.data(), large, MPI_CHAR, victim, 9, MPI_COMM_WORLD, status);
  if (kind == "any_source")
    return MPI_Recv(bytes.data(), large, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, status);
  if (kind == "send") return MPI_Ssend(bytes.data(), large, MPI_CHAR, victim, 9, MPI_COMM_WORLD);
  if (kind == "probe") return MPI_Probe(victim, 9, MPI_COMM_WORLD, status);
  if (kind == "wait") {
    MPI_Irecv(bytes.data(), 8, MPI_CHAR, victim, 9, MPI_COMM_WORLD, both);
    return MPI_Wait(both, status);
  }
  if (kind == "waitall") {
    MPI_Irecv(bytes.data(), 8, MPI_CHAR, victim, 9, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(bytes.data(), large, MPI_CHAR, victim, 9, MPI_COMM_WORLD, &both[1]);
    const int code = MPI_Waitall(2, both, status);
    return code == MPI_ERR_IN_STATUS ? status[0].MPI_ERROR : code;
  }
  if (kind == "barrier") return MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string kind = argc > 1 ? argv[1] : "receive";
  if (kind != "fatal") MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc < 3 || std::strcmp(argv[2], "unspoken") != 0) traffic();
  if (rank == victim) {
    usleep(200'000);
    raise(SIGKILL);
  }
  const double start = MPI_Wtime();
  const int code = blocked_in(kind);
  const double took = MPI_Wtime() - start - 0.2;
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  const bool good = error_class == MPI_ERR_PROC_ABORTED && took < limit_seconds;
  if (!good)
    std::fprintf(stderr, "survivor: rank %d, %s: error class %d after %.2f s\n", rank, kind.c_str(),
                 error_class, took);
  std::fflush(nullptr);
  _exit(good ? 0 : 1);  // no MPI_Finalize: it is collective, and one rank is dead
}
