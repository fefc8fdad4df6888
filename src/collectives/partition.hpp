#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/algorithms.hpp"

namespace headway::collectives {

/// Divides the elements of a vector among ranks, in their order.
class partition {
 public:
  /// As evenly as whole elements allow.
  partition(std::int64_t count, int ranks) : begins_(static_cast<std::size_t>(ranks) + 1) {
    for (int i = 0; i <= ranks; ++i)
      at(i) = count / ranks * i + std::min<std::int64_t>(i, count % ranks);
  }
  partition(const std::int64_t* counts, int ranks) : begins_(static_cast<std::size_t>(ranks) + 1) {
    for (int i = 0; i < ranks; ++i) at(i + 1) = at(i) + counts[i];
  }
  [[nodiscard]] std::int64_t begin(int rank) const noexcept {
    return begins_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::int64_t length(int rank) const noexcept {
    return begin(rank + 1) - begin(rank);
  }

 private:
  std::int64_t& at(int rank) noexcept { return begins_[static_cast<std::size_t>(rank)]; }
  std::vector<std::int64_t> begins_;
};

/// Appends the steps that reduce this rank's part into `result`: n - 1 rounds with one partner
/// each. Commutative operators only. In place `result` may be this rank's part of the input;
/// otherwise it does not overlap the input.
void reduce_own_part(schedule& s, const team& t, const reduction& r, const partition& part,
                     std::byte* result);

}  // namespace headway::collectives
