#pragma once

#include <deque>
#include <vector>

#include "common.hpp"

namespace oracle {

/// The collective operations of one thread, with the threads of its number on the other ranks: all
/// start the same ones in the same order, and compute beforehand what each must give them.
class collectives {
 public:
  collectives(const settings& s, int thread, MPI_Comm comm)
      : settings_(s), thread_(thread), comm_(comm) {}

  void begin() { started_ = ended_ = 0; }
  /// Starts or checks an operation; `waits`: for the oldest one. False: all have ended.
  [[nodiscard]] bool step(bool waits);
  /// A blocking operation of each kind, when no message is under way.
  long finish();

 private:
  enum kind { barrier, bcast, allreduce, alltoall, gather, scan, kind_count };
  struct planned {
    kind what;
    int root, count;
    long number;
  };
  struct operation {
    planned what;
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<long> from = {}, to = {};
  };

  [[nodiscard]] planned plan(long number) const;
  [[nodiscard]] static long value(const planned& what, int rank, int i);
  [[nodiscard]] std::size_t received(const planned& what) const;
  void prepare(operation& o) const;
  void start(operation& o) const;
  void run(operation& o) const;
  void check(const operation& o) const;

  const settings& settings_;
  const int thread_;
  const MPI_Comm comm_;
  std::deque<operation> under_way_;
  long started_ = 0, ended_ = 0;
};

}  // namespace oracle
