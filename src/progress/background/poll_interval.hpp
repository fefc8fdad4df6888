#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// The pause of a poller between rounds: the shortest period while something is urgent, otherwise
/// longer by a factor each millisecond, up to the longest.
/// Source:  pioman15 (mechanism 6).
class poll_interval {
 public:
  struct plan {
    std::uint64_t longest_ns = 0;
    std::uint64_t slowdown = 1;  ///< 1: none
  };
  static constexpr std::uint64_t calm_after_ns = 1'000'000;

  explicit poll_interval(plan how) noexcept : plan_(how) {}

  /// Call after a round. `urgent`: something moved or began. `now_ns()` is called only when needed.
  template <class Now>
  [[nodiscard]] std::uint64_t next_ns(bool urgent, std::uint64_t shortest_ns, Now now_ns) noexcept {
    if (urgent || period_ns_ < shortest_ns) {
      slower_at_ns_ = 0;
      return period_ns_ = shortest_ns;
    }
    const auto longest_ns = std::max(shortest_ns, plan_.longest_ns);
    if (plan_.slowdown <= 1 || period_ns_ >= longest_ns) return period_ns_;
    const auto now = now_ns();
    if (slower_at_ns_ == 0) {
      slower_at_ns_ = now + calm_after_ns;
    } else if (now >= slower_at_ns_) {
      slower_at_ns_ = now + calm_after_ns;
      const auto grown = std::max<std::uint64_t>(period_ns_, 1'000) * plan_.slowdown;
      period_ns_ = std::min(grown, longest_ns);
    }
    return period_ns_;
  }

 private:
  const plan plan_;
  std::uint64_t period_ns_ = 0;
  std::uint64_t slower_at_ns_ = 0;  ///< when the period grows next
};

}  // namespace headway::progress
