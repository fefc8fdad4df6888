#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// How its thread waits, and with it what a signaller owes it.
enum class rest : std::uint32_t {
  awake = 0,      ///< nothing is owed
  signalled = 1,  ///< a signal came that the thread has not looked at yet
  on_futex = 2,   ///< sleeps, or is about to, on this word
  on_guard = 3,   ///< sleeps, or is about to, on the guard's descriptors
};

/// A sticky signal to one thread: sent before the thread sleeps, it keeps it from sleeping.
/// Shape:    one futex word.
/// Threads:  `signal` any; the others its own thread.
/// Progress: never waits; the sleep itself is the caller's, between `lie_down` and `get_up`.
/// Errors:   none. A signal may be stale (meant for an earlier wait): it means "look again".
template <template <class> class Atomic = base::atomic>
class basic_wake_word {
  // word == awake | signalled      the thread runs
  // word == on_futex | on_guard    the thread sleeps; the one signaller that changes it wakes it
  // Hazards, and what removes each:
  //   signal between the last look and the sleep   (D) fails on `signalled`; the futex compares
  //   two signallers both enter the kernel         (S) one exchange takes the rest away
  //   signaller does not see whom to kick          (D) release -> (S) acquire
  //   signal used up, its cause not seen           (S) release -> (G) acquire; (G) is an exchange,
  //                                                because a store could bury a signal unread
  // Checked by: tests/model/waiter_model.cpp.
 public:
  /// What the thread was doing: `on_futex` and `on_guard` must now be woken, by this caller.
  [[nodiscard]] rest signal() noexcept {
    return static_cast<rest>(word_.exchange(static_cast<std::uint32_t>(rest::signalled),
                                            std::memory_order_acq_rel));  // (S)
  }
  /// False: a signal was here already, and is used up; do not sleep but look again.
  [[nodiscard]] bool lie_down(rest how) noexcept {
    auto expected = static_cast<std::uint32_t>(rest::awake);
    if (word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(how),
                                      std::memory_order_release,  // (D)
                                      std::memory_order_relaxed))
      return true;
    get_up();
    return false;
  }
  /// After the sleep, however it ended: uses up a signal, and says if there was one. Then look what
  /// it was for.
  rest get_up() noexcept {
    return static_cast<rest>(word_.exchange(static_cast<std::uint32_t>(rest::awake),
                                            std::memory_order_acquire));  // (G)
  }
  [[nodiscard]] Atomic<std::uint32_t>& futex_word() noexcept { return word_; }

 private:
  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
