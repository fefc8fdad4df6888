#pragma once

#include <bit>

namespace headway::collectives {

/// Algorithms whose partners differ in one bit work on a power of two of the ranks, the active
/// ones; each of the others, a passive one, leaves its part to its active neighbour.
/// Shape:    of each pair of ranks 2i and 2i+1 below `2 * extra` the odd one is active, and all
///           ranks behind; active ranks have numbers in the order of ranks.
struct active_ranks {
  explicit active_ranks(int size) noexcept
      : count(static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))), extra(size - count) {}

  [[nodiscard]] bool is_passive(int rank) const noexcept {
    return rank < 2 * extra && rank % 2 == 0;
  }
  /// Of an active rank: `rank - 1` is passive.
  [[nodiscard]] bool has_passive_neighbour(int rank) const noexcept { return rank < 2 * extra; }
  [[nodiscard]] int number_of(int rank) const noexcept {
    return rank < 2 * extra ? rank / 2 : rank - extra;
  }
  [[nodiscard]] int rank_of(int number) const noexcept {
    return number < extra ? 2 * number + 1 : number + extra;
  }

  int count;
  int extra;
};

}  // namespace headway::collectives
