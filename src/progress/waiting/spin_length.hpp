#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::progress {

/// The inputs of the length of a spin.
struct spin_situation {
  std::uint64_t setting_ns = 0;           ///< HEADWAY_SPIN_US: what a sleep would cost; if
                                          ///< `yields`, HEADWAY_YIELD_US: the longest wait
  std::uint64_t recent_ns = 0;            ///< recent durations of waits like this one
  bool yields = false;                    ///< among more ranks than processors
  bool oversubscribed_by_others = false;  ///< computing threads want the processor
  bool one_waiter = false;                ///< at most one thread of this process waits at a time
};

/// The longest wait that is spun through rather than slept. Where no other thread wants the
/// processor, a spin takes nothing from anyone; but a sleep makes the wait longer by a wake-up, and
/// with it those of all ranks that wait for this one: of ranks that wait for each other in turn,
/// one that sleeps would make the others sleep, too, and none of them would ever be quick again. Of
/// a wait that takes longer than this, the wake-up is a twentieth at most.
[[nodiscard]] constexpr std::uint64_t spun_through_ns(std::uint64_t setting_ns,
                                                      bool yields) noexcept {
  constexpr std::uint64_t sleeps = 20;
  return yields ? setting_ns : sleeps * setting_ns;
}

/// How long the adaptive policy spins before it sleeps: docs/waiting.md, step 4. `brief_waits` is
/// kept for the thread, and counts waits that spun briefly because recent ones took long.
[[nodiscard]] inline std::uint64_t adaptive_spin_ns(const spin_situation& now,
                                                    std::uint32_t& brief_waits) noexcept {
  constexpr std::uint64_t brief_ns = 5'000;
  constexpr std::uint32_t try_period = 8;
  constexpr std::uint64_t oversubscription_ns = 2'000, longest_oversubscribed_ns = 20'000;
  // Computing threads want the processor, and a sleeper gets it back soon when there is something
  // to do; but for an answer that comes at once, spinning costs less than any sleep.
  if (now.oversubscribed_by_others)
    return 2 * now.recent_ns <= longest_oversubscribed_ns
               ? std::max(2 * now.recent_ns, oversubscription_ns)
               : oversubscription_ns;
  const auto most = spun_through_ns(now.setting_ns, now.yields);
  if (now.recent_ns > most) {
    // If both ends sleep, each waits for the other's wake-up, although both would be quick if one
    // of them stayed awake. Each end detects this by itself: one brief wait in a few is a long one.
    const bool tries = !now.yields && now.recent_ns <= 2 * most && ++brief_waits % try_period == 0;
    return tries ? most : std::min(now.setting_ns, brief_ns);
  }
  if (now.yields) return most;
  // The mean of many short waits and a few long ones is short: with it as the only measure, the
  // thread would sleep in each long one. If several threads may wait, a woken one of them needs the
  // processor, so the spin follows the mean.
  return std::clamp(2 * now.recent_ns, now.one_waiter ? most : now.setting_ns, 2 * most);
}

/// The same for a thread that has the processor in turns, among computing threads that have the
/// same share of it. A thread that sleeps gives the rest of its turn away, and may wait for the
/// next one until all others have had theirs; two that answer each other need theirs at the same
/// time. So it stays awake. `vain_spins`: so many in a row have ended without a message; after a
/// few, one in eight tries, and a thread that waits long takes little from those that compute.
/// `brief_ns`: the spin of the adaptive policy.
[[nodiscard]] constexpr std::uint64_t spin_in_turn_ns(std::uint32_t vain_spins,
                                                      std::uint64_t brief_ns) noexcept {
  constexpr std::uint64_t long_ns = 200'000;
  constexpr std::uint32_t vain_max = 4, try_period = 8;
  return vain_spins < vain_max || vain_spins % try_period == 0 ? long_ns : brief_ns;
}

/// The longest wait that is watched, while another thread polls and processors are free, rather
/// than slept. Of a wait that takes longer, the wake-up is a twentieth.
[[nodiscard]] constexpr std::uint64_t watched_through_ns(std::uint64_t setting_ns) noexcept {
  return 4 * setting_ns;
}

/// How long such a thread watches before it sleeps. `recent_ns`: of its recent waits that another
/// thread polled for. `long_waits` is kept for the thread, and counts waits that it slept through
/// because recent ones took long.
[[nodiscard]] inline std::uint64_t watch_length_ns(std::uint64_t setting_ns,
                                                   std::uint64_t recent_ns,
                                                   std::uint32_t& long_waits) noexcept {
  constexpr std::uint32_t try_period = 8;
  const auto most = watched_through_ns(setting_ns);
  // Threads that wait for each other are quick if they stay awake, as in `adaptive_spin_ns`.
  if (recent_ns > most) return ++long_waits % try_period == 0 ? most : 0;
  return std::max(2 * recent_ns, setting_ns);
}

/// How long a thread stays awake that slept for `slept_ns` and was woken for something other than
/// what it waits for: others operate on windows of its process, or a message comes in parts.
/// `usual_ns` is the spin of its policy. If that came sooner than a sleep is worth, more of it is
/// about to come; else the thread looks a little longer.
[[nodiscard]] inline std::uint64_t spin_after_sleep_ns(const spin_situation& now,
                                                       std::uint64_t slept_ns,
                                                       std::uint64_t usual_ns) noexcept {
  constexpr std::uint64_t brief_ns = 5'000;
  if (now.oversubscribed_by_others) return usual_ns;
  return slept_ns < now.setting_ns ? now.setting_ns : std::min(usual_ns, brief_ns);
}

}  // namespace headway::progress
