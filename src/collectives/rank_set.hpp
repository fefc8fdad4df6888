#pragma once

#include <bit>
#include <cstdint>

#include "base/assert.hpp"

namespace headway::collectives {

/// Ranks of a team that exchanges data in shared memory.
/// Shape:    a bit for each of `ranks_max` ranks; trivial.
class rank_set {
 public:
  static constexpr int ranks_max = 64;

  constexpr rank_set() noexcept = default;
  [[nodiscard]] static constexpr rank_set only(int rank) noexcept { return from_to(rank, rank); }
  /// The ranks `first` … `last`.
  [[nodiscard]] static constexpr rank_set from_to(int first, int last) noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= first && first <= last && last < ranks_max);
    return rank_set((~std::uint64_t{0} >> (ranks_max - 1 - last)) & (~std::uint64_t{0} << first));
  }

  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr rank_set& operator|=(rank_set more) noexcept {
    bits_ |= more.bits_;
    return *this;
  }
  [[nodiscard]] constexpr rank_set without(rank_set others) const noexcept {
    return rank_set(bits_ & ~others.bits_);
  }

  /// Calls `act(rank)` for each, from the lowest on.
  template <class Act>
  constexpr void each(Act&& act) const {
    for (auto left = bits_; left != 0; left &= left - 1) act(std::countr_zero(left));
  }
  /// Whether it holds for every rank; asks no further when it does not.
  template <class Holds>
  [[nodiscard]] constexpr bool all(Holds&& holds) const {
    for (auto left = bits_; left != 0; left &= left - 1)
      if (!holds(std::countr_zero(left))) return false;
    return true;
  }

 private:
  explicit constexpr rank_set(std::uint64_t bits) noexcept : bits_(bits) {}

  std::uint64_t bits_ = 0;
};

}  // namespace headway::collectives
