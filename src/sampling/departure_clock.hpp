#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"

namespace headway::sampling {

/// When a rail will have sent everything that it was given: predicted from durations, and advanced
/// when something is known to have left earlier. Assumes that a rail sends in the order in which it
/// gets things.
/// Shape:    times in nanoseconds of the caller's clock, durations as predicted.
/// Threads:  the caller serializes.
/// Source:   multirail08, section II-B: the time remaining before a rail becomes idle.
class departure_clock {
 public:
  /// A moment in the plan of departures; remains valid when the plan moves.
  using mark = double;

  /// Appends something that takes `duration_ns` on a free rail. Returns the mark of its end.
  mark given(std::uint64_t now_ns, double duration_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(duration_ns >= 0);
    free_at_ns_ = std::max(free_at_ns_, static_cast<double>(now_ns)) + duration_ns;
    return free_at_ns_ + ahead_ns_;
  }
  /// Undoes `given`: it was not taken.
  void taken_back(double duration_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(duration_ns >= 0);
    free_at_ns_ -= duration_ns;
  }
  /// What ends at this mark needs at most `left_ns` from now; so does everything before it, and
  /// everything after it leaves earlier by as much. A later end than planned changes nothing,
  /// because the caller may have learnt of it late.
  void gone(std::uint64_t now_ns, mark end, double left_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(left_ns >= 0);
    const double early_ns = end - ahead_ns_ - static_cast<double>(now_ns) - left_ns;
    if (early_ns <= 0) return;
    ahead_ns_ += early_ns;
    free_at_ns_ -= early_ns;
  }
  [[nodiscard]] double busy_ns(std::uint64_t now_ns) const noexcept {
    return std::max(0.0, free_at_ns_ - static_cast<double>(now_ns));
  }

 private:
  double free_at_ns_ = 0;
  double ahead_ns_ = 0;  // by how much the plan was advanced in total
};

}  // namespace headway::sampling
