#pragma once

#include <atomic>
#include <cstdint>

#include "base/process_name.hpp"
#include "base/thread_annotations.hpp"
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

/// The process that holds a `change_lock`, as one word.
enum class lock_holder : std::uint64_t { none };
[[nodiscard]] lock_holder holder_of(const base::process_name& which) noexcept;
/// Of the calling process. System calls.
[[nodiscard]] lock_holder own_holder() noexcept;

/// Held while elements of a target are changed, for short sections: 64 KB at most.
/// Shape:    one word, which names the process that holds it.
/// Threads:  any, of any process that maps it; not recursive.
/// Progress: spins, then sleeps for short times. A process that is stopped inside a section stops
///           all others that change elements there.
/// Errors:   if the process that holds it has ended, the elements may be half changed: it stays
///           held, and all others are refused within 0.1 s. Not detected in a process of another
///           namespace.
class HEADWAY_CAPABILITY("change lock") change_lock {
  // Hazard: a section sees half of an earlier one. Edge: (C) release -> (B) acquire.
 public:
  /// False: the process that holds it has ended. `me` is `own_holder`.
  [[nodiscard]] bool lock(lock_holder me) noexcept HEADWAY_TRY_ACQUIRE(true) {
    return try_lock(me) || lock_after_others(me);
  }
  void unlock() noexcept HEADWAY_RELEASE() {
    holder_.store(lock_holder::none, std::memory_order_release);  // (C)
  }

 private:
  [[nodiscard]] bool try_lock(lock_holder me) noexcept {
    auto none = lock_holder::none;
    return holder_.compare_exchange_strong(none, me, std::memory_order_acquire,  // (B)
                                           std::memory_order_relaxed);           // not taken
  }
  [[nodiscard]] bool lock_after_others(lock_holder me) noexcept;

  std::atomic<lock_holder> holder_{lock_holder::none};
};

/// What the origins of a window share of one target. Lies in memory that the processes of the
/// target's node map, else in the target's own. All zero is its initial state.
struct control_line {
  alignas(64) window_lock lock;
  /// The target's engine takes it too.
  alignas(64) change_lock changing;
};
static_assert(sizeof(control_line) == 128);

}  // namespace headway::windows
