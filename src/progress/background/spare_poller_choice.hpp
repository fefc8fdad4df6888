#pragma once

#include <cstdint>

namespace headway::progress {

/// What `auto` sees of the machine, ten times a second while something is pending.
struct situation {
  int usable = 1;      ///< processors that this process may use
  int shared = 1;      ///< processors that the job's processes on this node use together
  int processes = 1;   ///< of this job on this node
  bool quota = false;  ///< a control group limits their time, and polling uses it up
  bool blind = false;  ///< a source of events cannot wake a sleeper
  /// More threads want processors than there are, and the kernel does not let a polling thread be
  /// one that yields to all of them (SCHED_IDLE).
  bool contended = false;
  std::uint64_t wake_ns = 0;  ///< what waking a background thread took recently
};

/// A wake-up that takes less is not worth a processor, even one that is otherwise unused.
inline constexpr std::uint64_t wake_worth_polling_ns = 4'000;

/// Can each process of the job have a processor more than the one it computes on, without a quota
/// on its time? If only some could, one process's poller would take processor time from another.
[[nodiscard]] constexpr bool has_processor_to_spare(const situation& s) noexcept {
  return s.usable >= 2 && s.shared >= 2 * s.processes && !s.quota;
}

/// Does a thread that polls on a spare processor pay, beside the one that sleeps on events?
/// Whether the processor is really free at the moment, the poller finds out by itself.
[[nodiscard]] constexpr bool spare_poller_pays(const situation& s) noexcept {
  if (!has_processor_to_spare(s) || s.contended) return false;
  return s.blind || s.wake_ns >= wake_worth_polling_ns;
}

}  // namespace headway::progress
