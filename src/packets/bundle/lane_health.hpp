#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::packets {

/// Decides when a rail that the peer owes something on has been silent for too long.
///
/// A question is sent only on a rail that is silent and on which something is owed. The rail counts
/// as dead when no answer comes in time although the same peer has answered on another rail
/// meanwhile. A peer that answers on no rail computes, or is stopped: its rails are kept, even if
/// its kernel still sends.
/// A rail that was declared dead and came back may only be slow: each time the limit is doubled,
/// until an answer has come in time. So every transfer over slow rails ends.
///
/// Threads:  the caller serializes. Times are of one clock, in nanoseconds.
class lane_health {
 public:
  struct limits {
    std::uint64_t silent_ns = 30'000'000;   ///< silent for so long: a question is sent
    std::uint64_t answer_ns = 100'000'000;  ///< no answer for so long: it is dead
  };
  enum class verdict : std::uint8_t { well, ask, dead };

  explicit lane_health(const limits& l) noexcept : limits_(l) {}

  /// `activity_ns`: when something last came on this rail; `elsewhere_ns`: when the peer last
  /// answered on another one. 0: never.
  [[nodiscard]] verdict look(std::uint64_t now_ns, bool owed, std::uint64_t activity_ns,
                             std::uint64_t elsewhere_ns) noexcept {
    if (!owed) {
      forget();
      return verdict::well;
    }
    if (owed_since_ns_ == 0) owed_since_ns_ = now_ns;
    if (asked_ns_ != 0 && activity_ns > asked_ns_) {
      if (activity_ns - asked_ns_ < limits_.answer_ns) patience_ = 1;
      asked_ns_ = 0;
      owed_since_ns_ = now_ns;
    }
    if (asked_ns_ == 0) {
      if (now_ns < std::max(activity_ns, owed_since_ns_) + limits_.silent_ns) return verdict::well;
      asked_ns_ = now_ns;
      return verdict::ask;
    }
    if (now_ns < asked_ns_ + limits_.answer_ns * patience_) return verdict::well;
    if (elsewhere_ns > asked_ns_) {
      patience_ = std::min(patience_ * 2, patience_max);
      return verdict::dead;
    }
    asked_ns_ = now_ns;  // no rail has brought anything: send the question again
    return verdict::ask;
  }
  void forget() noexcept { owed_since_ns_ = asked_ns_ = 0; }

 private:
  static constexpr std::uint32_t patience_max = 64;

  limits limits_;
  std::uint32_t patience_ = 1;       // factor on `answer_ns`
  std::uint64_t owed_since_ns_ = 0;  // 0: nothing is
  std::uint64_t asked_ns_ = 0;       // 0: no question is open
};

}  // namespace headway::packets
