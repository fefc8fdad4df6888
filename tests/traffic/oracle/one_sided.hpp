#pragma once

#include <array>
#include <random>
#include <vector>

#include "common.hpp"

namespace oracle {

/// The one-sided operations of one thread, on a window of its own whose other ranks are the threads
/// of its number. All of a round are one epoch of MPI_Win_lock_all.
class one_sided {
 public:
  /// Collective, of one thread of each rank. Every second window is allocated by the library.
  one_sided(const settings& s, int thread, MPI_Comm comm);
  one_sided(const one_sided&) = delete;
  one_sided& operator=(const one_sided&) = delete;
  void free();

  void begin();
  /// Does an operation. False: all are done.
  [[nodiscard]] bool step();
  long finish();
  /// When all threads of all ranks have finished: compares the window with what all have done, and
  /// clears it.
  void check();

 private:
  static constexpr int counters = 8, row = 512;  // longs; a row is written by its rank alone

  enum kind { add, fetch_add, accumulate, put_and_get, kind_count };
  struct planned {
    kind what;
    int target, counter;
    long operand;
  };
  struct generator {
    std::minstd_rand random;
    planned next(int ranks);
  };
  [[nodiscard]] generator plan_of(int rank) const;
  void put_and_compare(const planned& what);

  const settings& settings_;
  const int thread_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<long> own_;  // the memory, unless the library has allocated it
  long* memory_ = nullptr;
  std::size_t length_;
  generator plan_;
  std::vector<std::array<long, counters>> fetched_;  // last, of each target
  int done_ = 0;
};

}  // namespace oracle
