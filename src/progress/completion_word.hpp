#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// The one word of a completion: pending, done, or the waiter to signal.
/// Shape:    one word; a waiter's address is a multiple of four.
/// Threads:  `finish` once, any thread; `enlist` and `leave` waiting threads; `done` any. One
///           thread waits in the word itself. A shared word says of further ones: look in the
///           crowd (crowd.hpp).
/// Progress: never waits.
/// Errors:   `enlist` answers `occupied` when another thread waits here: a bug of the caller's,
///           unless the word is shared.
/// Source:   pioman15 (mechanism 7).
template <class Waiter, template <class> class Atomic = base::atomic>
class basic_completion_word {
  // Hazards, and the edge that removes each:
  //   result of the work not seen            (F) release -> (T), (E) acquire
  //   waiter's fields not seen by signaller  (E) release -> (F) acquire
  //   completion finishes, nobody signalled  (E) and (F) change the same word: one is first
  //   the same in the crowd                  (F) and (T') are seq_cst for crowd.hpp
  //   freed word touched by the finisher     (F) is its only and last access
  //   freed waiter signalled                 waiters are never freed (thread_record.hpp); a signal
  //                                          that comes after `leave` failed is stale, "look again"
  // Checked by: tests/model/waiter_model.cpp, tests/model/crowd_model.cpp.
 public:
  /// The same by the waiting thread itself, between its own steps: no other thread changes the
  /// word. Not for a shared one.
  void finish_own() noexcept { word_.store(finished, std::memory_order_release); }  // (F)

  enum class enlisting : std::uint8_t { enlisted, done, occupied };
  struct to_tell {
    Waiter* seated = nullptr;  ///< must be signalled now
    bool crowd = false;        ///< there may be more, in the crowd
  };

  [[nodiscard]] bool done() const noexcept {
    return word_.load(std::memory_order_acquire) == finished;  // (T)
  }
  /// The same for who has joined the crowd just now.
  [[nodiscard]] bool done_meanwhile() const noexcept {
    return word_.load(std::memory_order_seq_cst) == finished;  // (T')
  }
  [[nodiscard]] bool shared() const noexcept {
    return (word_.load(std::memory_order_relaxed) & crowd_bit) != 0;  // set before it is known
  }
  /// Makes it done. Who must be told.
  [[nodiscard]] to_tell finish() noexcept {
    const auto before = word_.exchange(finished, std::memory_order_seq_cst);  // (F)
    return {seat(before), (before & crowd_bit) != 0};
  }
  [[nodiscard]] enlisting enlist(Waiter& w) noexcept {
    auto before = word_.load(std::memory_order_acquire);  // (E), of the answer `done`
    const auto mine = reinterpret_cast<std::uintptr_t>(&w);
    for (;;) {
      if (before == finished) return enlisting::done;
      if (seat(before)) return seat(before) == &w ? enlisting::enlisted : enlisting::occupied;
      if (word_.compare_exchange_weak(before, before | mine, std::memory_order_acq_rel,  // (E)
                                      std::memory_order_acquire))
        return enlisting::enlisted;
    }
  }
  /// False: not seated here; or done meanwhile, and a signal has come or will come. Relaxed: who
  /// leaves knows no more than before; whether it is done, and what with, he learns from `done`.
  bool leave(Waiter& w) noexcept {
    auto before = word_.load(std::memory_order_relaxed);
    return seat(before) == &w &&
           word_.compare_exchange_strong(before, before & crowd_bit, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }
  void begin_done() noexcept { word_.store(finished, std::memory_order_relaxed); }     // owner only
  void reset() noexcept { word_.store(pending, std::memory_order_relaxed); }           // owner only
  void reset_shared() noexcept { word_.store(crowd_bit, std::memory_order_relaxed); }  // likewise

 private:
  static constexpr std::uintptr_t pending = 0, finished = 1, crowd_bit = 2;
  static Waiter* seat(std::uintptr_t word) noexcept {
    return reinterpret_cast<Waiter*>(word & ~(finished | crowd_bit));
  }
  Atomic<std::uintptr_t> word_{pending};
};

}  // namespace headway::progress
