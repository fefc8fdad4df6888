#pragma once

#include "base/atomic.hpp"

namespace headway::progress {

/// Shows that a thread sleeps in the kernel: only then does a thread that brings work need a system
/// call.
/// Shape:    one word.
/// Threads:  `begin_sleep`, `end_sleep` the thread that sleeps; `sleeping` any.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_sleep_flag {
  // The sleeper sets the flag (K) and then looks for work; a thread that brings work makes it
  // visible and then reads the flag (W). All four accesses are seq_cst, so one sees the other.
  // Checked by: tests/model/kernel_sleeper_model.cpp.
 public:
  void begin_sleep() noexcept { asleep_.store(true, std::memory_order_seq_cst); }  // (K)
  /// Relaxed: a kick that comes late ends the next sleep early.
  void end_sleep() noexcept { asleep_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool sleeping() const noexcept {
    return asleep_.load(std::memory_order_seq_cst);  // (W)
  }

 private:
  Atomic<bool> asleep_{false};
};

}  // namespace headway::progress
