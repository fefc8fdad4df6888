#pragma once

#include <algorithm>
#include <cstdint>

#include "base/atomic.hpp"

namespace headway::endpoints {

/// Decides whether to try a step that pays only at times: at each occasion while it pays; after
/// each failure only after a gap that doubles from `gap_min` to `gap_max` occasions.
/// Threads:  any; relaxed, because a lost update is harmless.
template <std::uint32_t gap_min, std::uint32_t gap_max>
class adaptive_retry {
 public:
  /// Whether to try it now. Call once on each occasion.
  [[nodiscard]] bool due() noexcept {
    const auto left = left_.load(std::memory_order_relaxed);
    if (left == 0) return true;
    left_.store(left - 1, std::memory_order_relaxed);
    return false;
  }
  void learn(bool paid) noexcept {
    if (paid) {
      if (gap_.load(std::memory_order_relaxed) != gap_min)
        gap_.store(gap_min, std::memory_order_relaxed);
      return;
    }
    const auto gap = gap_.load(std::memory_order_relaxed);
    left_.store(gap, std::memory_order_relaxed);
    gap_.store(std::min(2 * gap, gap_max), std::memory_order_relaxed);
  }

 private:
  base::atomic<std::uint32_t> left_{0};  // occasions until the next try
  base::atomic<std::uint32_t> gap_{gap_min};
};

}  // namespace headway::endpoints
