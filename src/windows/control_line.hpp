#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/process_name.hpp"
#include "base/thread_annotations.hpp"
#include "windows/epoch_counter.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// The lock of one target of a window (MPI_Win_lock), shared or exclusive.
/// Shape:    one word. A free lock for which no process waits is taken by one atomic exchange.
///           Processes of the node then wait in turns, by tickets. Those whose turn does not come
///           soon, and processes of other nodes, queue at the target (target.hpp), which grants the
///           lock in their order. Once a process queues there, no ticket is given out until the
///           queue is empty; tickets given before come first.
/// Threads:  any, of any process that maps it; functions marked [target] are called while the
///           target serves requests, one at a time.
/// Progress: never waits but in `wait_turn`, for about 50 us. While others wait in turns, the
///           lock may be taken past them `passes_max` times: a process that takes it again and
///           again has its line in the cache, and each change of process moves that.
/// Errors:   a process that ends while it waits in turns keeps its turn.
/// Source:   the tickets: Mellor-Crummey and Scott, doi.org/10.1145/103727.103729, section 2.2.
class window_lock {
  // Hazard: a holder does not see what an earlier one wrote. Edge: (U) release -> (L) acquire; a
  // release sequence, because all changes are read-modify-write.
 public:
  static constexpr int passes_max = 3;

  [[nodiscard]] bool try_lock(lock_type how) noexcept {
    return change([how](std::uint64_t now) {
      if ((now & queued) != 0 || !is_free(now, how)) return refused;
      if (!has_waiting(now)) return taken(now, how);
      return (now & passes) == passes ? refused : taken(now + one_pass, how);
    });
  }
  /// Waits in turn with other processes of the node. False: its turn has not come soon, or
  /// processes queue at the target; or `give_up()`, after which the lock is of no use to any
  /// process.
  template <class GiveUp>
  [[nodiscard]] bool wait_turn(lock_type how, GiveUp give_up) noexcept {
    std::uint16_t mine = 0;
    if (!draw(mine)) return false;
    const auto until_ns = base::machine_now_ns() + patience_ns;
    for (base::backoff until_last;;) {
      for (int looks = 0; looks < looks_between_clock_reads; ++looks) {
        if (take_turn(mine, how)) return true;
        base::relax();
      }
      if (base::machine_now_ns() < until_ns) continue;
      if (give_back(mine) || give_up()) return false;
      until_last.wait();  // those behind it give theirs back soon
    }
  }

  /// Waits where more ranks than processors want to run: the holder may need this processor. Takes
  /// the lock when it is free, without a turn, because the process whose turn it is might not have
  /// a processor. False: as `wait_turn`, or it took longer than `longest_ns`.
  template <class GiveUp>
  [[nodiscard]] bool wait_yielding(lock_type how, std::uint64_t longest_ns,
                                   GiveUp give_up) noexcept {
    const auto until_ns = base::machine_now_ns() + longest_ns;
    do {
      if (has_queue() || give_up()) return false;
      sched_yield();
      if (try_lock(how)) return true;
    } while (base::machine_now_ns() < until_ns);
    return false;
  }

  /// True: others are queued, and the target must look at them.
  [[nodiscard]] bool unlock(lock_type how) noexcept {
    const auto mine = how == lock_type::exclusive ? exclusive : one_shared;
    const auto before = word_.fetch_sub(mine, std::memory_order_release);  // (U)
    HEADWAY_DEBUG_ASSERT((before & (how == lock_type::exclusive ? exclusive : all_shared)) != 0);
    return (before & queued) != 0;
  }

  /// [target] From now on every release is reported, and no process passes the queue.
  void begin_queue() noexcept {
    [[maybe_unused]] const auto before =
        word_.fetch_or(queued, std::memory_order_acq_rel);  // (L) (U)
    HEADWAY_DEBUG_ASSERT((before & queued) == 0);
  }
  /// [target] Takes the lock for the first in the queue. False: not yet.
  [[nodiscard]] bool grant(lock_type how) noexcept {
    return change([how](std::uint64_t now) {
      return has_waiting(now) || !is_free(now, how) ? refused : taken(now, how);
    });
  }
  /// [target] The queue is empty.
  void end_queue() noexcept {
    [[maybe_unused]] const auto before =
        word_.fetch_and(~queued, std::memory_order_acq_rel);  // (L) (U)
    HEADWAY_DEBUG_ASSERT((before & queued) != 0);
  }

 private:
  // The word: from bit 8 on the number of shared holders; from 32 on the ticket whose turn is next,
  // from 48 on the ticket that is given out next. Both wrap.
  static constexpr std::uint64_t exclusive = 1, queued = 2, one_pass = 4,
                                 passes = passes_max * one_pass, one_shared = 1 << 8,
                                 all_shared = 0xff'ffffull << 8;
  static constexpr int turn_bit = 32, next_bit = 48;
  static constexpr std::uint64_t refused = UINT64_MAX;  // no word looks like that
  static constexpr std::uint64_t patience_ns = 50'000;  // about what a sleep costs
  static constexpr int looks_between_clock_reads = 64;

  /// A hint: what follows from it is decided by an exchange.
  [[nodiscard]] bool has_queue() const noexcept {
    return (word_.load(std::memory_order_relaxed) & queued) != 0;
  }
  /// False: processes queue at the target.
  [[nodiscard]] bool draw(std::uint16_t& mine) noexcept;
  [[nodiscard]] bool take_turn(std::uint16_t mine, lock_type how) noexcept;
  /// Only the last ticket can be given back: those behind it count on their numbers.
  [[nodiscard]] bool give_back(std::uint16_t mine) noexcept;

  [[nodiscard]] static std::uint16_t turn(std::uint64_t word) noexcept {
    return static_cast<std::uint16_t>(word >> turn_bit);
  }
  [[nodiscard]] static std::uint16_t next(std::uint64_t word) noexcept {
    return static_cast<std::uint16_t>(word >> next_bit);
  }
  [[nodiscard]] static bool has_waiting(std::uint64_t word) noexcept {
    return turn(word) != next(word);
  }
  [[nodiscard]] static bool is_free(std::uint64_t word, lock_type how) noexcept {
    return (word & (how == lock_type::shared ? exclusive : exclusive | all_shared)) == 0;
  }
  [[nodiscard]] static std::uint64_t taken(std::uint64_t word, lock_type how) noexcept {
    return word + (how == lock_type::shared ? one_shared : exclusive);
  }
  /// Replaces the word by `wanted` of it, unless that is `refused`.
  template <class Wanted>
  [[nodiscard]] bool change(Wanted wanted) noexcept {
    auto now = word_.load(std::memory_order_relaxed);  // a guess, which the exchange confirms
    for (;;) {
      const auto then = wanted(now);
      if (then == refused) return false;
      if (word_.compare_exchange_weak(now, then, std::memory_order_acquire,  // (L)
                                      std::memory_order_relaxed))            // another guess
        return true;
    }
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
  /// False: a process holds it.
  [[nodiscard]] bool try_lock(lock_holder me) noexcept HEADWAY_TRY_ACQUIRE(true) {
    HEADWAY_DEBUG_ASSERT(me != lock_holder::none);
    auto none = lock_holder::none;
    return holder_.compare_exchange_strong(none, me, std::memory_order_acquire,  // (B)
                                           std::memory_order_relaxed);           // not taken
  }
  void unlock() noexcept HEADWAY_RELEASE() {
    holder_.store(lock_holder::none, std::memory_order_release);  // (C)
  }

 private:
  [[nodiscard]] bool lock_after_others(lock_holder me) noexcept HEADWAY_TRY_ACQUIRE(true);

  std::atomic<lock_holder> holder_{lock_holder::none};
};

/// What the origins of a window share of one target. Lies in memory that the processes of the
/// target's node map, else in the target's own. All zero is its initial state.
struct control_line {
  alignas(64) window_lock lock;
  /// The target's engine takes it too.
  alignas(64) change_lock changing;
  /// How many fences this rank has come to, for all ranks of its node.
  alignas(64) epoch_counter fences;
};
static_assert(sizeof(control_line) == 192);

}  // namespace headway::windows
