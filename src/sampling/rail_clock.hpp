#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"

namespace headway::sampling {

/// When a rail will be free, from what it was given and what has arrived.
/// Shape:    times in nanoseconds of the caller's clock, durations as predicted.
/// Threads:  the caller serializes.
/// Source:   multirail08, section II-B: the time remaining before a rail becomes idle.
class rail_clock {
 public:
  /// Adds a transfer that takes `duration_ns` on a free rail.
  void begun(std::uint64_t now_ns, double duration_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(duration_ns >= 0);
    owed_ns_ += duration_ns;
    free_at_ns_ = std::max(free_at_ns_, static_cast<double>(now_ns)) + duration_ns;
  }
  /// One of them has ended, for which `duration_ns` was predicted: the others take their time from
  /// now, and earlier errors are dropped.
  void ended(std::uint64_t now_ns, double duration_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(duration_ns >= 0);
    owed_ns_ = std::max(0.0, owed_ns_ - duration_ns);
    free_at_ns_ = static_cast<double>(now_ns) + owed_ns_;
  }
  [[nodiscard]] double busy_ns(std::uint64_t now_ns) const noexcept {
    return std::max(0.0, free_at_ns_ - static_cast<double>(now_ns));
  }

 private:
  double free_at_ns_ = 0;
  double owed_ns_ = 0;
};

}  // namespace headway::sampling
