// Shared by the programs of this folder: two ranks send each other a large message, and compute in
// the threads of a runtime, without a call into MPI, until it has arrived, which they see in the
// buffer itself.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace untouched {

inline constexpr std::size_t message_bytes = 4u << 20;  // rendezvous: several packets both ways
inline constexpr std::chrono::seconds patience{40};     // tells "soon" from "never"

/// About 100 us of arithmetic.
inline double piece_of_work(double x) {
  for (int i = 0; i < 50'000; ++i) x = x * 0.999999 + 1e-6;
  return x;
}

/// Read by the threads of one rank while they compute.
class arrival {
 public:
  explicit arrival(const std::vector<unsigned char>& buffer) : buffer_(buffer) {}
  /// Whether the whole message has arrived, or has taken so long that it never will.
  [[nodiscard]] bool over() {
    // Written by the library's thread, or by the other process, while the program reads it: as in
    // any program that reads a buffer before it waits.
    const volatile unsigned char* bytes = buffer_.data();
    bool all = true;
    for (std::size_t i = 0; all && i < message_bytes; i += 4096) all = bytes[i] != 0;
    if (all && bytes[message_bytes - 1] != 0) came_.store(true);
    else if (std::chrono::steady_clock::now() > end_) late_.store(true);
    return came_.load() || late_.load();
  }
  [[nodiscard]] bool came() const { return came_.load(); }

 private:
  const std::vector<unsigned char>& buffer_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + patience;
  std::atomic<bool> came_{false}, late_{false};
};

/// Runs the calling thread on one processor only, of those that it may use now.
inline void bind_self(unsigned number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = static_cast<int>(number % static_cast<unsigned>(CPU_COUNT(&allowed)));
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (!CPU_ISSET(p, &allowed) || left-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(p, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// Calls `compute`, which returns when `over` is true, three times: the runtime's threads from the
/// first time then wait, in their runtime's way, before the next.
template <class Compute>
int run(int argc, char** argv, Compute compute) {
  int level = 0, rank = 0, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 1; round <= 3; ++round) {
    std::vector<unsigned char> out(message_bytes, static_cast<unsigned char>(round));
    std::vector<unsigned char> in(message_bytes, 0);
    MPI_Request requests[2];
    MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, 1 - rank, round, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, 1 - rank, round, MPI_COMM_WORLD,
              &requests[1]);
    arrival message(in);
    compute(message);
    if (!message.came()) {
      std::fprintf(stderr, "rank %d: round %d: nothing came while the program computed\n", rank,
                   round);
      ++failures;
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (std::memcmp(in.data(), out.data(), message_bytes) != 0) ++failures;
    MPI_Barrier(MPI_COMM_WORLD);  // until here only background threads made progress
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

/// Arguments of the programs that start their threads by hand: how many, and whether bound.
struct shape {
  shape(int argc, char** argv)
      : threads(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 2),
        bound(argc > 2 && std::strcmp(argv[2], "bound") == 0) {}
  unsigned threads;
  bool bound;
};

}  // namespace untouched
