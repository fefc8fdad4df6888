#pragma once

#include "base/atomic.hpp"
#include "base/backoff.hpp"
#include "base/lock_guard.hpp"
#include "base/thread_annotations.hpp"

namespace headway::base {

/// A spinlock for critical sections of well under a microsecond that never wait or allocate.
/// Shape:    one byte.
/// Threads:  any; not recursive. Meets BasicLockable.
/// Progress: spins, then yields and sleeps, as `backoff` does: with more threads than cores the
///           holder may need the core on which this thread spins.
template <template <class> class Atomic = atomic>
class HEADWAY_CAPABILITY("spinlock") basic_spinlock {
  // Hazard: a section sees half of an earlier one. Edge: (U) release -> (L) acquire.
 public:
  [[nodiscard, gnu::always_inline]] bool try_lock() noexcept HEADWAY_TRY_ACQUIRE(true) {
    return !taken_.load(std::memory_order_relaxed) &&          // a hint, carries nothing
           !taken_.exchange(true, std::memory_order_acquire);  // (L)
  }
  [[gnu::always_inline]] void lock() noexcept HEADWAY_ACQUIRE() {
    if (!try_lock()) [[unlikely]]
      lock_after_others();
  }
  void unlock() noexcept HEADWAY_RELEASE() {
    taken_.store(false, std::memory_order_release);  // (U)
  }

 private:
  /// Out of line, so that callers inline no more than the fast path.
  [[gnu::noinline]] void lock_after_others() noexcept HEADWAY_ACQUIRE() {
    for (backoff until_free; !try_lock();) until_free.wait();
  }
  Atomic<bool> taken_{false};
};

using spinlock = basic_spinlock<>;

}  // namespace headway::base
