#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/thread_annotations.hpp"

namespace headway::base {

/// A try-lock that no thread waits for: a thread that finds it taken does something else.
/// Shape:    one word, 0 or the ticket of the holder: the kernel's thread number in 31 bits below,
///           then a bit for holders of low priority, a count in the upper half.
/// Threads:  any; not recursive.
/// Progress: never waits. A holder that lost its processor can be detected: while `holder` returns
///           the same ticket it is the same tenure, so an observer times it with its own clock, and
///           taking the mask costs no clock read.
/// Errors:   none.
/// Source:   pioman15 (docs/papers.md, mechanism 5).
template <template <class> class Atomic = atomic>
class HEADWAY_CAPABILITY("mask") basic_mask {
  // Hazard: a holder sees half of what an earlier holder did. Edge: (U) release -> (L) acquire.
  // Checked by: tests/model/mask_model.cpp.
 public:
  using ticket = std::uint64_t;

  [[nodiscard]] bool try_lock(ticket mine) noexcept HEADWAY_TRY_ACQUIRE(true) {
    if (holder_.load(std::memory_order_relaxed) != 0) return false;  // a hint, carries nothing
    ticket nobody = 0;
    return holder_.compare_exchange_strong(nobody, mine, std::memory_order_acquire,  // (L)
                                           std::memory_order_relaxed);
  }
  /// The same where another lock excludes all others: no read-modify-write, and no edge. Always
  /// true.
  bool take(ticket mine) noexcept HEADWAY_TRY_ACQUIRE(true) {
    holder_.store(mine, std::memory_order_relaxed);
    return true;
  }
  void unlock() noexcept HEADWAY_RELEASE() {
    holder_.store(0, std::memory_order_release);  // (U)
  }

  /// 0, or the ticket of the tenure under way. Relaxed: a name, carries nothing of its work.
  [[nodiscard]] ticket holder() const noexcept { return holder_.load(std::memory_order_relaxed); }

 private:
  Atomic<ticket> holder_{0};
};

using mask = basic_mask<>;

/// The calling thread's next ticket: never 0, never the same twice within 2^32 tenures.
[[nodiscard]] mask::ticket next_ticket() noexcept;
/// Set in the tickets of threads that may lose the processor for long, because of a low priority
/// that other threads may raise.
inline constexpr mask::ticket low_priority_bit = mask::ticket{1} << 31;

/// The kernel's number of the thread that holds a ticket.
[[nodiscard]] inline int thread_of(mask::ticket t) noexcept {
  return static_cast<int>(t & (low_priority_bit - 1));
}

}  // namespace headway::base
