#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::packets {

/// Decides when a rail that owes something has been silent for too long.
///
/// A rail is asked only when it is silent and something is owed. It counts as dead when it does not
/// answer in time although the same peer has answered on another rail meanwhile: one that answers
/// nowhere computes, or is stopped, and its rails are left alone, whatever its kernel still sends.
/// A rail that was called dead and came back may only be slow: each time it is given twice as long,
/// until it has answered in time, so that every transfer over slow rails ends.
///
/// Threads:  its owner's. Times are of one clock, in nanoseconds.
class lane_health {
 public:
  struct limits {
    std::uint64_t silent_ns = 30'000'000;   ///< after so long without a word it is asked
    std::uint64_t answer_ns = 100'000'000;  ///< and dead after so long without an answer
  };
  enum class verdict : std::uint8_t { well, ask, dead };

  explicit lane_health(const limits& l) noexcept : limits_(l) {}

  /// `heard_ns` here, `elsewhere_ns` answered on the other rails to the same peer: when last, 0 for
  /// never.
  [[nodiscard]] verdict look(std::uint64_t now_ns, bool owed, std::uint64_t heard_ns,
                             std::uint64_t elsewhere_ns) noexcept {
    if (!owed) {
      forget();
      return verdict::well;
    }
    if (owed_since_ns_ == 0) owed_since_ns_ = now_ns;
    if (asked_ns_ != 0 && heard_ns > asked_ns_) {
      if (heard_ns - asked_ns_ < limits_.answer_ns) patience_ = 1;
      asked_ns_ = 0;
      owed_since_ns_ = now_ns;
    }
    if (asked_ns_ == 0) {
      if (now_ns < std::max(heard_ns, owed_since_ns_) + limits_.silent_ns) return verdict::well;
      asked_ns_ = now_ns;
      return verdict::ask;
    }
    if (now_ns < asked_ns_ + limits_.answer_ns * patience_) return verdict::well;
    if (elsewhere_ns > asked_ns_) {
      patience_ = std::min(patience_ * 2, patience_max);
      return verdict::dead;
    }
    asked_ns_ = now_ns;  // no rail was heard: ask again
    return verdict::ask;
  }
  void forget() noexcept { owed_since_ns_ = asked_ns_ = 0; }

 private:
  static constexpr std::uint32_t patience_max = 64;

  limits limits_;
  std::uint32_t patience_ = 1;       // times `answer_ns`
  std::uint64_t owed_since_ns_ = 0;  // 0: nothing is
  std::uint64_t asked_ns_ = 0;       // 0: not asked
};

}  // namespace headway::packets
