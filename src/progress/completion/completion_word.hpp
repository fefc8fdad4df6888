#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace headway::progress {

/// The one word of a completion: pending, done, or the waiter to signal.
/// Shape:    one word; a waiter's address is a multiple of four.
/// Threads:  `finish` once, any thread; `enlist` and `leave` waiting threads; `done` any. One
///           thread waits in the word itself. The further ones of a shared word are overflow
///           waiters (overflow_waiters.hpp).
/// Progress: never waits.
/// Errors:   `enlist` answers `occupied` when another thread waits here: a bug of the caller,
///           unless the word is shared.
/// Source:   pioman15 (mechanism 7).
template <class Waiter, template <class> class Atomic = base::atomic>
class basic_completion_word {
  // Hazards, and the edge that removes each:
  //   result of the work not seen            (F) release -> (T), (E) acquire
  //   waiter's fields not seen by signaller  (E) release -> (F) acquire
  //   completion finishes, waiter unsignalled (E) and (F) change the same word: one is first
  //   the same of an overflow waiter         (F), (T') are seq_cst for overflow_waiters.hpp
  //   freed word touched by the finisher     (F) is its only and last access
  //   freed waiter signalled                 waiters are never freed (thread_record.hpp); a signal
  //                                          that comes after `leave` failed is stale, "look again"
  // Checked by: tests/model/waiter_model.cpp, tests/model/overflow_waiters_model.cpp.
 public:
  /// Completed by the waiting thread itself, between its own steps: no other thread changes the
  /// word. Not for a shared one.
  void finish_own() noexcept { word_.store(finished, std::memory_order_release); }  // (F)

  enum class enlisting : std::uint8_t { enlisted, done, occupied };
  struct to_tell {
    Waiter* first = nullptr;  ///< must be signalled now
    bool overflow = false;    ///< there may be overflow waiters
  };

  [[nodiscard]] bool done() const noexcept {
    return word_.load(std::memory_order_acquire) == finished;  // (T)
  }
  /// The same for a thread that has just joined the overflow waiters.
  [[nodiscard]] bool done_meanwhile() const noexcept {
    return word_.load(std::memory_order_seq_cst) == finished;  // (T')
  }
  [[nodiscard]] bool shared() const noexcept {
    return (word_.load(std::memory_order_relaxed) & overflow_bit) !=
           0;  // constant while other threads can access it
  }
  /// Makes it done, and returns which waiters must be signalled.
  [[nodiscard]] to_tell finish() noexcept {
    const auto before = word_.exchange(finished, std::memory_order_seq_cst);  // (F)
    return {waiter_in(before), (before & overflow_bit) != 0};
  }
  [[nodiscard]] enlisting enlist(Waiter& w) noexcept {
    auto before = word_.load(std::memory_order_acquire);  // (E), for the answer `done`
    const auto mine = reinterpret_cast<std::uintptr_t>(&w);
    HEADWAY_DEBUG_ASSERT((mine & (finished | overflow_bit)) == 0);
    for (;;) {
      if (before == finished) return enlisting::done;
      if (waiter_in(before))
        return waiter_in(before) == &w ? enlisting::enlisted : enlisting::occupied;
      if (word_.compare_exchange_weak(before, before | mine, std::memory_order_acq_rel,  // (E)
                                      std::memory_order_acquire))
        return enlisting::enlisted;
    }
  }
  /// False: another waiter is named here, or it is done and a signal has come or will come.
  /// Relaxed: this does not publish the result; `done` does.
  bool leave(Waiter& w) noexcept {
    auto before = word_.load(std::memory_order_relaxed);
    return waiter_in(before) == &w &&
           word_.compare_exchange_strong(before, before & overflow_bit, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }
  void begin_done() noexcept { word_.store(finished, std::memory_order_relaxed); }  // owner only
  void reset() noexcept { word_.store(pending, std::memory_order_relaxed); }        // owner only
  void reset_shared() noexcept {
    word_.store(overflow_bit, std::memory_order_relaxed);
  }  // only its owner calls this

 private:
  static constexpr std::uintptr_t pending = 0, finished = 1, overflow_bit = 2;
  static Waiter* waiter_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<Waiter*>(word & ~(finished | overflow_bit));
  }
  Atomic<std::uintptr_t> word_{pending};
};

}  // namespace headway::progress
