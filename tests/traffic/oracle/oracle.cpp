// Random traffic whose bytes, results and order every rank computes beforehand.
//
//   mpiexec -n RANKS oracle [--seed S] [--threads T] [--messages M] [--collectives C]
//                           [--one-sided W] [--rounds R | --seconds S]
//
// From the seed each rank computes the same plan: M messages between random threads of random
// ranks, of random size and mode. Each receiving thread has four communicators, one for each way of
// matching: by source and tag, by tag, by source, and for anything (receives, probes, matched
// probes). Beside them each thread takes part in C collective operations and does W one-sided ones
// on a window, with the threads of its number on the other ranks. A round is a plan; the next one
// has the next seed. Exit code 0: everything was as planned.
#include <CLI/CLI.hpp>
#include <mpi.h>

#include <cstdio>
#include <deque>
#include <thread>

#include "collectives.hpp"
#include "common.hpp"
#include "one_sided.hpp"
#include "point_to_point.hpp"

namespace oracle {
namespace {

/// What a thread has done, and found as planned.
struct tally {
  long messages = 0;  ///< that it has received
  long collectives = 0, one_sided = 0;
};

/// All that one thread does.
class worker {
 public:
  worker(const settings& s, int thread, const std::vector<communicators>& comms)
      : settings_(s),
        messages_(s, thread, comms),
        together_(s, thread, comms[static_cast<std::size_t>(thread)].own),
        window_(s, thread, comms[static_cast<std::size_t>(thread)].own) {}

  void run(const std::vector<message>& plan) {
    messages_.begin(plan);
    together_.begin();
    window_.begin();
    // An operation after so many steps with messages, so that all last as long as each other.
    const int period = 1 + settings_.messages / (settings_.threads * settings_.size *
                                                 (settings_.collectives + settings_.one_sided + 1));
    bool receives = true, operates = true, accesses = true;
    for (int i = 0; receives || operates || accesses; ++i) {
      if (receives) receives = messages_.step();
      if (receives && i % period != 0) continue;
      if (operates) operates = together_.step(!receives && !accesses);
      if (accesses) accesses = window_.step();
    }
    done_.messages += messages_.finish();
    done_.one_sided += window_.finish();
    done_.collectives += together_.finish();
  }

  /// When all threads of all ranks have run.
  void check() { window_.check(); }
  void free() { window_.free(); }
  [[nodiscard]] const tally& done() const { return done_; }

 private:
  const settings& settings_;
  point_to_point messages_;
  collectives together_;
  one_sided window_;
  tally done_;
};

std::vector<communicators> make_communicators(int threads) {
  std::vector<communicators> made(static_cast<std::size_t>(threads));
  for (auto& of_thread : made) {
    for (auto& comm : of_thread.matching) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread.own);
  }
  return made;
}

void free_communicators(std::vector<communicators>& all) {
  for (auto& of_thread : all) {
    for (auto& comm : of_thread.matching) MPI_Comm_free(&comm);
    MPI_Comm_free(&of_thread.own);
  }
}

void run_round(const settings& s, std::deque<worker>& workers) {
  const auto plan = make_plan(s);
  std::vector<char> buffer(buffered_bytes(s, plan));
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  std::vector<std::thread> threads;
  for (auto& one : workers) threads.emplace_back([&] { one.run(plan); });
  for (auto& one : threads) one.join();
  void* detached = nullptr;
  int detached_bytes = 0;
  MPI_Buffer_detach(&detached, &detached_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (auto& one : workers) one.check();
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Rank 0 decides, because each has a clock of its own.
bool goes_on(double end) {
  int more = MPI_Wtime() < end;
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return more != 0;
}

void print(const settings& s, std::uint32_t first_seed, const std::deque<worker>& workers) {
  long mine[3] = {}, all[3] = {};
  for (const auto& one : workers) {
    mine[0] += one.done().messages;
    mine[1] += one.done().collectives;
    mine[2] += one.done().one_sided;
  }
  MPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (s.rank != 0) return;
  std::printf("oracle: seeds %u to %u: %ld messages", first_seed, s.seed, all[0]);
  if (all[1] != 0) std::printf(", %ld parts of collective operations", all[1]);
  if (all[2] != 0) std::printf(", %ld one-sided operations", all[2]);
  std::printf(" as planned\n");
}

void run(settings s, int rounds, double seconds) {
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  auto comms = make_communicators(s.threads);
  const auto first_seed = s.seed;
  {
    std::deque<worker> workers;
    for (int t = 0; t < s.threads; ++t) workers.emplace_back(s, t, comms);
    const double end = MPI_Wtime() + seconds;
    for (int round = 1;; ++round, ++s.seed) {
      run_round(s, workers);
      if (seconds > 0 ? !goes_on(end) : round == rounds) break;
    }
    print(s, first_seed, workers);
    for (auto& one : workers) one.free();
  }
  free_communicators(comms);
}

}  // namespace
}  // namespace oracle

int main(int argc, char** argv) {
  oracle::settings s;
  int rounds = 1, provided = 0;
  double seconds = 0;
  CLI::App app{"Random traffic whose bytes, results and order every rank computes beforehand."};
  const auto number = [&](const char* name, auto& value, const char* about, int least) {
    app.add_option(name, value, about)->check(CLI::Range(least, 1 << 24));
  };
  app.add_option("--seed", s.seed, "of the first round");
  number("--threads", s.threads, "of each rank", 1);
  number("--messages", s.messages, "in a round", 1);
  number("--collectives", s.collectives, "operations of each thread in a round", 0);
  number("--one-sided", s.one_sided, "operations of each thread in a round", 0);
  number("--rounds", rounds, "each with another seed", 1);
  app.add_option("--seconds", seconds, "begin rounds for so long, instead of a number of them");
  CLI11_PARSE(app, argc, argv);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) oracle::wrong("MPI_THREAD_MULTIPLE is not provided", 0);
  oracle::run(s, rounds, seconds);
  MPI_Finalize();
  return 0;
}
