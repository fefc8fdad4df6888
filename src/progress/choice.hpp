#pragma once

#include <cstdint>

namespace headway::progress {

/// What `auto` sees of the machine, ten times a second while something is pending.
struct situation {
  int usable = 1;             ///< processors that this process may use
  int shared = 1;             ///< processors that the job's processes on this node use together
  int processes = 1;          ///< of this job on this node
  bool quota = false;         ///< a control group limits their time: who polls eats it
  bool blind = false;         ///< a source of events cannot wake us
  std::uint64_t wake_ns = 0;  ///< what waking one of our threads took recently
};

/// A wake-up that takes less is not worth a processor, even one that nobody else wants.
inline constexpr std::uint64_t wake_worth_polling_ns = 4'000;

/// Can each process of the job have a processor more than the one it computes on? If fewer had,
/// what one of them does there would be the crowd that another sees. And nobody counts the time.
[[nodiscard]] constexpr bool processor_to_spare(const situation& s) noexcept {
  return s.usable >= 2 && s.shared >= 2 * s.processes && !s.quota;
}

/// Does a thread that polls on a spare processor pay, beside the one that sleeps on events?
/// Whether the processor is really free at the moment, the poller finds out by itself.
[[nodiscard]] constexpr bool spare_poller_pays(const situation& s) noexcept {
  if (!processor_to_spare(s)) return false;
  return s.blind || s.wake_ns >= wake_worth_polling_ns;
}

}  // namespace headway::progress
