#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// How long an idle poller pauses while other threads compute on its processor.
///
/// A thread of idle priority has a small weight, so it gets a turn of milliseconds now and then,
/// which costs a computing thread half a percent. A single round costs nothing. So the poller makes
/// one and pauses, until a pause ends on time: then the processor is idle again.
class idle_backoff {
 public:
  /// late by so much: the processor was taken away
  static constexpr std::uint64_t lost_ns = 1'000'000;
  static constexpr std::uint64_t rest_ns = 4'000'000;

  /// Replaces `period_ns` after a round that found nothing.
  [[nodiscard]] std::uint64_t pause_ns(std::uint64_t period_ns) const noexcept {
    return preempted_ ? std::max(period_ns, rest_ns) : period_ns;
  }
  /// Call after that pause and the round before it.
  void paused(std::uint64_t for_ns, std::uint64_t now_ns) noexcept {
    preempted_ = last_ns_ != 0 && now_ns - last_ns_ >= for_ns + lost_ns;
    last_ns_ = now_ns;
  }
  /// The time until the next `paused` is ignored: the thread worked, or slept for another reason.
  void did_something_else() noexcept { last_ns_ = 0; }

 private:
  std::uint64_t last_ns_ = 0;  ///< the end of the last pause
  bool preempted_ = false;
};

}  // namespace headway::progress
