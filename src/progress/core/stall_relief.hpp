#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "base/mask.hpp"
#include "progress/core/engine_counters.hpp"
#include "progress/core/queue_tree.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// Bounds how long the root queue's mask is kept by a thread that has lost its processor inside a
/// round: a poller that meets the same tenure for 100 us raises the holder's priority.
/// Threads:  every function any thread.
/// Progress: `met_taken_mask` reads the clock, and naps 50 us after it has raised a holder; for a
///           holder that is a thread of the program, until that round ends, at most 20 ms.
class stall_relief {
 public:
  stall_relief(queue_tree& queues, engine_counters& counted, base::clock clock) noexcept
      : queues_(queues), counted_(counted), clock_(clock) {}

  /// To be called after a round that found a mask taken.
  void met_taken_mask(thread_record& me) noexcept;
  /// To be called by a low-priority thread after each of its rounds: restores its priority, by
  /// `lower`, if any thread was lifted since the last call. The caller keeps `lifts_seen`.
  void regain_low_priority(std::uint64_t& lifts_seen, void (*lower)() noexcept) const noexcept;

 private:
  void help(base::mask::ticket holder) noexcept;

  queue_tree& queues_;
  engine_counters& counted_;
  const base::clock clock_;
};

}  // namespace headway::progress
