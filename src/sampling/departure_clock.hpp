#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"

namespace headway::sampling {

/// When a rail will have sent all that was given to it: predicted from durations, and moved forward
/// when something is known to have gone sooner. It assumes that a rail sends in the order in which
/// it is given things.
/// Shape:    times in nanoseconds of the caller's clock, durations as predicted.
/// Threads:  its owner's.
/// Source:   multirail08, section II-B: the time remaining before a rail becomes idle.
class departure_clock {
 public:
  /// Names a moment in the plan of departures; stays valid when the plan moves.
  using mark = double;

  /// Something that takes `duration_ns` on a free rail goes behind what was given before. Returns
  /// the mark of its end.
  mark given(std::uint64_t now_ns, double duration_ns) noexcept {
    HEADWAY_DEBUG_ASSERT(duration_ns >= 0);
    free_at_ns_ = std::max(free_at_ns_, static_cast<double>(now_ns)) + duration_ns;
    return free_at_ns_ + ahead_ns_;
  }
  /// It was not taken after all.
  void taken_back(double duration_ns) noexcept { free_at_ns_ -= duration_ns; }
  /// What ends with this mark needs `left_ns` at most from now: so does what was given before it,
  /// and what was given behind it goes so much sooner. A later end than planned moves nothing: the
  /// caller may have learnt of it late.
  void gone(std::uint64_t now_ns, mark end, double left_ns) noexcept {
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
  double ahead_ns_ = 0;  // by so much in all the plan was moved forward
};

}  // namespace headway::sampling
