#pragma once

#include "base/atomic.hpp"
#include "base/backoff.hpp"

namespace headway::base {

/// Guards a few loads and stores: for sections of well under a microsecond that never wait.
/// Shape:    one byte.
/// Threads:  any; not recursive. Meets BasicLockable.
/// Progress: spins, then leaves the processor, as `backoff` does: with more threads than cores the
///           holder may need the core on which we spin.
template <template <class> class Atomic = atomic>
class basic_spinlock {
  // Hazard: a section sees half of an earlier one. Edge: (U) release -> (L) acquire.
 public:
  [[nodiscard]] bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&          // a hint, carries nothing
           !taken_.exchange(true, std::memory_order_acquire);  // (L)
  }
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_after_others();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }  // (U)

 private:
  /// Apart, so that callers have no more than the quick way in line.
  [[gnu::noinline]] void lock_after_others() noexcept {
    for (backoff until_free; !try_lock();) until_free.wait();
  }
  Atomic<bool> taken_{false};
};

using spinlock = basic_spinlock<>;

}  // namespace headway::base
