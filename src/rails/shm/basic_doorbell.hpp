#pragma once

#include <atomic>
#include <cstdint>

namespace headway::rails::shm {

/// Wakes a receiver that sleeps, and costs a sender one load while it does not.
///
/// Shape:    one word in the receiver's segment, and nothing else.
/// Threads:  `arm`, `disarm` the one thread that is about to sleep; `clear_strict` any thread of
///           the receiver; `must_ring` any thread of any process.
/// Progress: never waits. `arm` may cost microseconds when the receiver has not slept lately.
/// Errors:   none; if a peer has written garbage into the word, senders ring too often or never.
/// Source:   Dekker's mutual exclusion; asymmetric fences after Dice, Huang and Yang (2001) and
///           membarrier(2).
template <template <class> class Atomic, class Fences>
class basic_doorbell {
  // The sender stores a record (s), then loads the word (l); the receiver stores `asleep` (S), then
  // looks at its rings (L). Unless (s) is before (L) or (S) before (l), the message is never
  // noticed. A full fence on each side would order them; but a full fence after every record makes
  // the sender wait, for a hundred nanoseconds, until the receiver's core has released the line.
  //   strict set:    the sender fences between (s) and (l), the receiver between (S) and (L).
  //   strict clear:  the sender does nothing, the receiver pays for both with a `heavy` fence.
  // `arm` sets strict together with asleep, and learns in the same step whether it was set
  // before. Only a receiver that is not asleep clears it, also in one step. So a receiver that
  // sleeps often pays a heavy fence once, and one that has been awake for long costs its senders
  // nothing.
 public:
  static constexpr std::uint32_t asleep = 1;
  static constexpr std::uint32_t closed = 2;
  static constexpr std::uint32_t strict = 4;

  explicit basic_doorbell(Atomic<std::uint32_t>& word) noexcept : word_(&word) {}

  // --- the receiver
  /// Before the last look at the rings: for what comes after that look, the sender rings.
  void arm() noexcept {
    const std::uint32_t old = word_->fetch_or(asleep | strict, std::memory_order_seq_cst);  // (S)
    if (old & strict) {
      Fences::full();
    } else {
      Fences::heavy();
    }
  }
  /// True: no sender has rung, and none will.
  [[nodiscard]] bool disarm() noexcept {
    return word_->fetch_and(~asleep, std::memory_order_acq_rel) & asleep;
  }
  /// The receiver has been awake for long: senders need no fence from now on.
  void clear_strict() noexcept {
    std::uint32_t expected = strict;
    word_->compare_exchange_strong(expected, 0, std::memory_order_relaxed);
  }
  /// For good: later senders get `closed`.
  void shut() noexcept { word_->fetch_or(closed, std::memory_order_release); }

  // --- the sender
  [[nodiscard]] bool is_closed() const noexcept {
    return word_->load(std::memory_order_acquire) & closed;
  }
  /// After a store that the receiver must see. True: the caller must ring; no other sender will.
  [[nodiscard]] bool must_ring(bool fence_always) noexcept {
    Fences::light();
    if (!fence_always && word_->load(std::memory_order_relaxed) == 0) [[likely]]  // (l)
      return false;
    return claim_ring();
  }

 private:
  [[nodiscard]] bool claim_ring() noexcept {
    Fences::full();
    std::uint32_t seen = word_->load(std::memory_order_relaxed);  // (l)
    while (seen & asleep)
      if (word_->compare_exchange_weak(seen, seen & ~asleep, std::memory_order_acq_rel))
        return true;
    return false;
  }

  Atomic<std::uint32_t>* word_;
};

}  // namespace headway::rails::shm
