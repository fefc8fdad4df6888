#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// How a thread waits, and thus how a signaller wakes it.
enum class sleep_state : std::uint32_t {
  awake = 0,      ///< nothing
  signalled = 1,  ///< there is a signal that the thread has not seen yet
  on_futex = 2,   ///< sleeps, or is about to, on this word
  in_kernel = 3,  ///< sleeps, or is about to, on the event sources (kernel_sleeper.hpp)
};

/// A sticky signal to one thread: if it is sent before the thread sleeps, the thread does not
/// sleep.
/// Shape:    one futex word.
/// Threads:  `signal` any; the others the thread itself.
/// Progress: never waits; the sleep itself is the caller's, between `begin_sleep` and `end_sleep`.
/// Errors:   none. A signal may be stale (meant for an earlier wait): it means "look again".
template <template <class> class Atomic = base::atomic>
class basic_wake_word {
  // word == awake | signalled      the thread runs
  // word == on_futex | in_kernel    the thread sleeps; the one signaller that changes it wakes it
  // Hazards, and what removes each:
  //   signal between the last look and the sleep   (D) fails on `signalled`; the futex compares
  //   two signallers both enter the kernel         (S) only one exchange takes the state
  //   signaller does not see what to kick          (D) release -> (S) acquire
  //   signal used up, its cause not seen           (S) release -> (G) acquire; (G) is an exchange,
  //                                                because a store could bury a signal unread
  // Checked by: tests/model/waiter_model.cpp.
 public:
  /// Returns what the thread was doing: after `on_futex` and `in_kernel` the caller must wake it.
  [[nodiscard]] sleep_state signal() noexcept {
    return static_cast<sleep_state>(
        word_.exchange(static_cast<std::uint32_t>(sleep_state::signalled),
                       std::memory_order_acq_rel));  // (S)
  }
  /// False: there was a signal, which is now used up; do not sleep but look again.
  [[nodiscard]] bool begin_sleep(sleep_state how) noexcept {
    auto expected = static_cast<std::uint32_t>(sleep_state::awake);
    if (word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(how),
                                      std::memory_order_release,  // (D)
                                      std::memory_order_relaxed))
      return true;
    end_sleep();
    return false;
  }
  /// After the sleep, whatever ended it: uses up a signal, and returns whether there was one. Then
  /// look for its cause.
  sleep_state end_sleep() noexcept {
    return static_cast<sleep_state>(word_.exchange(static_cast<std::uint32_t>(sleep_state::awake),
                                                   std::memory_order_acquire));  // (G)
  }
  [[nodiscard]] Atomic<std::uint32_t>& futex_word() noexcept { return word_; }

 private:
  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
