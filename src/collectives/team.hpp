#pragma once

#include <atomic>

#include "collectives/carrier.hpp"

namespace headway::collectives {

/// The ranks of a communicator, as its collective operations see them.
/// Threads:  any; calls on one communicator are made in the same order on all its ranks, which
///           the standard demands of the program.
struct team {
  carrier& via;
  int rank = 0;
  int size = 1;
  /// More ranks than processors on some node: a rank that waits should be woken once, not often.
  bool crowded = false;
  /// Each rank can touch the memory of every other (carrier::read, write), and all know it. Set
  /// between two operations, on all ranks alike.
  bool direct = false;

  /// Keeps operations under way apart: all ranks draw the same number for the same operation.
  [[nodiscard]] int next_tag() noexcept {
    // Relaxed: the number is the only thing that is shared.
    return static_cast<int>(drawn_.fetch_add(1, std::memory_order_relaxed) & tag_mask);
  }

 private:
  static constexpr unsigned tag_mask = 0x1fffffff;  // above it the layers over us have their own
  std::atomic<unsigned> drawn_{0};

 public:
  team(carrier& over, int my_rank, int ranks, bool more_ranks_than_cores = false) noexcept
      : via(over), rank(my_rank), size(ranks), crowded(more_ranks_than_cores) {}
};

}  // namespace headway::collectives
