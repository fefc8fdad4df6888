#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// How long an idle poller pauses where others compute on its processor.
///
/// What a thread of idle priority gets by its small weight, a turn of milliseconds now and then,
/// costs who computes there half a percent. One round costs nothing, so it makes one and rests,
/// until a pause ends when it should.
class giving_way {
 public:
  static constexpr std::uint64_t lost_ns = 1'000'000;  ///< without its processor
  static constexpr std::uint64_t rest_ns = 4'000'000;

  /// In the place of `period_ns`, after a round that found nothing.
  [[nodiscard]] std::uint64_t pause_ns(std::uint64_t period_ns) const noexcept {
    return crowded_out_ ? std::max(period_ns, rest_ns) : period_ns;
  }
  /// After that pause, and the round before it.
  void paused(std::uint64_t for_ns, std::uint64_t now_ns) noexcept {
    crowded_out_ = last_ns_ != 0 && now_ns - last_ns_ >= for_ns + lost_ns;
    last_ns_ = now_ns;
  }
  /// The time until the next `paused` says nothing: it worked, or slept for another reason.
  void did_something_else() noexcept { last_ns_ = 0; }

 private:
  std::uint64_t last_ns_ = 0;  ///< the end of the last pause
  bool crowded_out_ = false;
};

}  // namespace headway::progress
