#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// The one word of a completion: pending, done, or the waiter to signal.
/// Shape:    one word; a waiter's address is neither 0 nor 1.
/// Threads:  `finish` once, any thread; `enlist` and `leave` one waiting thread; `done` any.
/// Progress: never waits.
/// Errors:   `enlist` answers `occupied` when another thread waits here: a bug of the caller's.
/// Source:   pioman15 (mechanism 7).
template <class Waiter, template <class> class Atomic = base::atomic>
class basic_completion_word {
  // Hazards, and the edge that removes each:
  //   result of the work not seen            (F) release -> (T), (E), (L) acquire
  //   waiter's fields not seen by signaller  (E) release -> (F) acquire
  //   completion finishes, nobody signalled  (E) and (F) change the same word: one is first
  //   freed word touched by the finisher     (F) is its only and last access
  //   freed waiter signalled                 waiters are never freed (thread_record.hpp); a signal
  //                                          that comes after `leave` failed is stale, "look again"
  // Checked by: tests/model/waiter_model.cpp.
 public:
  /// The same by the waiting thread itself, between its own steps: no other thread changes the
  /// word.
  void finish_own() noexcept { word_.store(finished, std::memory_order_release); }  // (F)

  enum class enlisting : std::uint8_t { enlisted, done, occupied };

  [[nodiscard]] bool done() const noexcept {
    return word_.load(std::memory_order_acquire) == finished;  // (T)
  }
  /// Makes it done. The waiter that must be signalled now, or nullptr.
  [[nodiscard]] Waiter* finish() noexcept {
    const auto before = word_.exchange(finished, std::memory_order_acq_rel);  // (F)
    return before > finished ? reinterpret_cast<Waiter*>(before) : nullptr;
  }
  [[nodiscard]] enlisting enlist(Waiter& w) noexcept {
    std::uintptr_t before = pending;
    const auto mine = reinterpret_cast<std::uintptr_t>(&w);
    if (word_.compare_exchange_strong(before, mine, std::memory_order_acq_rel,  // (E)
                                      std::memory_order_acquire))
      return enlisting::enlisted;
    if (before == finished) return enlisting::done;
    return before == mine ? enlisting::enlisted : enlisting::occupied;
  }
  /// False: done meanwhile, and a signal has come or will come.
  bool leave(Waiter& w) noexcept {
    auto mine = reinterpret_cast<std::uintptr_t>(&w);
    return word_.compare_exchange_strong(mine, pending, std::memory_order_acquire,
                                         std::memory_order_acquire);  // (L)
  }
  void begin_done() noexcept { word_.store(finished, std::memory_order_relaxed); }  // owner only
  void reset() noexcept { word_.store(pending, std::memory_order_relaxed); }        // owner only

 private:
  static constexpr std::uintptr_t pending = 0, finished = 1;
  Atomic<std::uintptr_t> word_{pending};
};

}  // namespace headway::progress
