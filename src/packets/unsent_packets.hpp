#pragma once

#include <atomic>

#include "progress/core/engine.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

/// Keeps a rail polled while its driver holds packets that were `done` and have not left: no
/// request stands for them any more, and the program may compute for long before its next call.
/// Threads:  `look` any; `settle` the reaper.
class unsent_packets {
  // Hazard: the reaper finds nothing unsent and stops counting, while a sender, whose packet was
  // queued just then, still finds it counted.
  // Edge (U): both exchange `counted_`. If the sender's exchange is the earlier one, the reaper's
  // acquires what it has released, and the last look of `settle` sees its packet.
 public:
  unsent_packets(rails::driver& of, progress::engine& engine) noexcept
      : driver_(of), engine_(engine) {}

  /// After a `send` that was `done`.
  void look() noexcept {
    if (driver_.unsent() && !counted_.exchange(true, std::memory_order_acq_rel))  // (U)
      engine_.pending_started();
  }
  /// After a `reap`.
  void settle() noexcept {
    if (!counted_.load(std::memory_order_relaxed) || driver_.unsent()) return;  // a hint
    counted_.exchange(false, std::memory_order_acq_rel);                        // (U)
    look();
    engine_.pending_ended();
  }

 private:
  rails::driver& driver_;
  progress::engine& engine_;
  std::atomic<bool> counted_{false};
};

}  // namespace headway::packets
