#pragma once

#include <cstdint>

namespace headway::progress {

/// The machine as `auto` sees it, ten times a second while something is pending.
struct situation {
  int usable = 1;      ///< processors that this process may use
  int shared = 1;      ///< processors that the job's processes on this node use together
  int processes = 1;   ///< of this job on this node
  bool quota = false;  ///< a control group limits their time, which polling uses up
  bool blind = false;  ///< a source of events cannot wake a sleeper
  /// More threads want processors than there are, and the kernel does not permit a polling thread
  /// that yields to all of them (SCHED_IDLE).
  bool contended = false;
  std::uint64_t wake_ns = 0;  ///< recent latency of waking a background thread
};

/// If a wake-up takes less, it is not worth a processor, even an unused one.
inline constexpr std::uint64_t wake_worth_polling_ns = 4'000;

/// Whether each process of the job can have a processor besides the one it computes on, without a
/// quota on its time. If only some could, one process's poller would take time from another
/// process.
[[nodiscard]] constexpr bool has_processor_to_spare(const situation& s) noexcept {
  return s.usable >= 2 && s.shared >= 2 * s.processes && !s.quota;
}

/// Whether a thread that polls on a spare processor pays, in addition to the one that sleeps on
/// events. The poller itself detects whether the processor is free at the moment.
[[nodiscard]] constexpr bool spare_poller_pays(const situation& s) noexcept {
  if (!has_processor_to_spare(s) || s.contended) return false;
  return s.blind || s.wake_ns >= wake_worth_polling_ns;
}

}  // namespace headway::progress
