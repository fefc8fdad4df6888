#pragma once

#include "base/atomic.hpp"

namespace headway::progress {

/// Says that somebody sleeps in the kernel, so that who brings work enters the kernel only then.
/// Shape:    one word.
/// Threads:  `lie_down`, `get_up` the one that sleeps; `somebody_sleeps` any.
/// Progress: never waits.
template <template <class> class Atomic = base::atomic>
class basic_sleep_flag {
  // Who sleeps says so (K) and then looks for work; who brings work makes it visible and then looks
  // whether somebody sleeps (W). All four accesses are seq_cst, so one sees the other.
  // Checked by: tests/model/guard_model.cpp.
 public:
  void lie_down() noexcept { asleep_.store(true, std::memory_order_seq_cst); }  // (K)
  /// Relaxed: a kick that comes late ends the next sleep early.
  void get_up() noexcept { asleep_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool somebody_sleeps() const noexcept {
    return asleep_.load(std::memory_order_seq_cst);  // (W)
  }

 private:
  Atomic<bool> asleep_{false};
};

}  // namespace headway::progress
