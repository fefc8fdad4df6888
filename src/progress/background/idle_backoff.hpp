#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// How long an idle poller pauses where others compute on its processor.
///
/// By its small weight a thread of idle priority gets a turn of milliseconds now and then, which
/// costs a thread that computes there half a percent. One round costs nothing, so the poller makes
/// one and rests, until a pause ends when it should: then the processor is idle again.
class idle_backoff {
 public:
  static constexpr std::uint64_t lost_ns = 1'000'000;  ///< without its processor
  static constexpr std::uint64_t rest_ns = 4'000'000;

  /// In the place of `period_ns`, after a round that found nothing.
  [[nodiscard]] std::uint64_t pause_ns(std::uint64_t period_ns) const noexcept {
    return preempted_ ? std::max(period_ns, rest_ns) : period_ns;
  }
  /// After that pause, and the round before it.
  void paused(std::uint64_t for_ns, std::uint64_t now_ns) noexcept {
    preempted_ = last_ns_ != 0 && now_ns - last_ns_ >= for_ns + lost_ns;
    last_ns_ = now_ns;
  }
  /// The time until the next `paused` says nothing: it worked, or slept for another reason.
  void did_something_else() noexcept { last_ns_ = 0; }

 private:
  std::uint64_t last_ns_ = 0;  ///< the end of the last pause
  bool preempted_ = false;
};

}  // namespace headway::progress
