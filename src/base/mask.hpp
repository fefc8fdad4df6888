#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/thread_annotations.hpp"

namespace headway::base {

/// A try-lock that no thread waits for: a thread that finds it taken does something else.
/// Shape:    one word, 0 or the holder's ticket: in the lower half the kernel's thread number (31
///           bits) and `low_priority_bit`, in the upper half a count.
/// Threads:  any; not recursive.
/// Progress: never waits. An observer can detect a holder that lost its processor: while `holder`
///           returns the same ticket, the same thread has held the mask without a break. The
///           observer reads the clock; taking the mask does not.
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
    ticket free = 0;
    return holder_.compare_exchange_strong(free, mine, std::memory_order_acquire,  // (L)
                                           std::memory_order_relaxed);
  }
  /// Takes the mask where another lock excludes all other threads: a plain store that orders
  /// nothing. Always true.
  bool take(ticket mine) noexcept HEADWAY_TRY_ACQUIRE(true) {
    holder_.store(mine, std::memory_order_relaxed);
    return true;
  }
  void unlock() noexcept HEADWAY_RELEASE() {
    holder_.store(0, std::memory_order_release);  // (U)
  }

  /// 0, or the present holder's ticket. Relaxed: says nothing about the holder's writes.
  [[nodiscard]] ticket holder() const noexcept { return holder_.load(std::memory_order_relaxed); }

 private:
  Atomic<ticket> holder_{0};
};

using mask = basic_mask<>;

/// The calling thread's next ticket: never 0, never the same twice within 2^32 calls.
[[nodiscard]] mask::ticket next_ticket() noexcept;
/// Set in the tickets of threads of low priority, which may lose the processor for long; an
/// observer may raise the priority of such a holder.
inline constexpr mask::ticket low_priority_bit = mask::ticket{1} << 31;

/// The kernel's number of the thread that holds a ticket.
[[nodiscard]] inline int thread_of(mask::ticket t) noexcept {
  return static_cast<int>(t & (low_priority_bit - 1));
}

}  // namespace headway::base
