#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// What the length of a spin depends on.
struct spin_situation {
  std::uint64_t longest_ns = 0;           ///< HEADWAY_SPIN_US: what a sleep would cost
  std::uint64_t recent_ns = 0;            ///< how long waits like this one took lately
  bool yields = false;                    ///< among more ranks than processors
  bool oversubscribed_by_others = false;  ///< computing threads want the processor
};

/// How long the adaptive policy spins before it sleeps: docs/waiting.md, step 4. `brief_waits` is
/// the thread's, and counts those that spun briefly because recent ones took long.
[[nodiscard]] inline std::uint64_t adaptive_spin_ns(const spin_situation& now,
                                                    std::uint32_t& brief_waits) noexcept {
  constexpr std::uint64_t brief_ns = 5'000;
  constexpr std::uint32_t try_period = 8;
  constexpr std::uint64_t oversubscription_ns = 2'000, longest_oversubscribed_ns = 20'000;
  // Computing threads want the processor, and we get it back soon once there is something to do;
  // but answers that come at once cost less than any sleep.
  if (now.oversubscribed_by_others)
    return 2 * now.recent_ns <= longest_oversubscribed_ns
               ? std::max(2 * now.recent_ns, oversubscription_ns)
               : oversubscription_ns;
  if (now.recent_ns > now.longest_ns) {
    // Two ends that both sleep wait for each other's wake-ups, and would be quick if one of them
    // stayed awake. Each finds out by itself: one brief wait in a few is a long one.
    const bool tries =
        !now.yields && now.recent_ns <= 4 * now.longest_ns && ++brief_waits % try_period == 0;
    return tries ? 2 * now.longest_ns : std::min(now.longest_ns, brief_ns);
  }
  return now.yields ? now.longest_ns
                    : std::clamp(2 * now.recent_ns, now.longest_ns, 2 * now.longest_ns);
}

}  // namespace headway::progress
