#pragma once

#include <atomic>
#include <cstdint>

#include "base/spinlock.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// The lock of one target of a window (MPI_Win_lock), shared or exclusive.
/// Shape:    one word. Free or shared with no process queued, it is taken by one atomic exchange.
///           All others queue at the target (target.hpp), which grants the lock in their order;
///           while they do, no other process can take it.
/// Threads:  any, of any process that maps it; functions marked [target] are called while the
///           target serves requests, one at a time.
/// Progress: never waits.
class window_lock {
  // Hazard: a holder does not see what an earlier one wrote. Edge: (U) release -> (L) acquire; a
  // release sequence, because all changes are read-modify-write.
 public:
  [[nodiscard]] bool try_lock(lock_type how) noexcept { return take(how, exclusive | queued); }

  /// True: others are queued, and the target must look at them.
  [[nodiscard]] bool unlock(lock_type how) noexcept {
    const auto mine = how == lock_type::exclusive ? exclusive : one_shared;
    return (word_.fetch_sub(mine, std::memory_order_release) & queued) != 0;  // (U)
  }

  /// [target] From now on every release is reported, and no process passes the queue.
  void begin_queue() noexcept { word_.fetch_or(queued, std::memory_order_acq_rel); }  // (L) (U)
  /// [target] Takes the lock for the first in the queue. False: not yet.
  [[nodiscard]] bool grant(lock_type how) noexcept { return take(how, exclusive); }
  /// [target] The queue is empty.
  void end_queue() noexcept { word_.fetch_and(~queued, std::memory_order_acq_rel); }  // (L) (U)

 private:
  static constexpr std::uint64_t exclusive = 1, queued = 2, one_shared = 4;

  /// Shared if none of the bits `excluding` is set, exclusive if moreover no process holds it.
  [[nodiscard]] bool take(lock_type how, std::uint64_t excluding) noexcept {
    auto now = word_.load(std::memory_order_relaxed);  // a guess, which the exchange confirms
    while ((now & excluding) == 0 && (how == lock_type::shared || now < one_shared)) {
      const auto taken = how == lock_type::shared ? now + one_shared : now | exclusive;
      if (word_.compare_exchange_weak(now, taken, std::memory_order_acquire,  // (L)
                                      std::memory_order_relaxed))             // another guess
        return true;
    }
    return false;
  }

  std::atomic<std::uint64_t> word_{0};
};

/// What the origins of a window share of one target. Lies in memory that the processes of the
/// target's node map, else in the target's own. All zero is its initial state.
struct control_line {
  alignas(64) window_lock lock;
  /// Held while elements of the target are changed. For short sections: the target's engine takes
  /// it too, and a process that is stopped inside one stops all others.
  alignas(64) base::basic_spinlock<std::atomic> changing;
};
static_assert(sizeof(control_line) == 128);

}  // namespace headway::windows
