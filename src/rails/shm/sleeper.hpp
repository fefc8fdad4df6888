#pragma once

#include <atomic>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/shm/arrivals.hpp"
#include "rails/shm/doorbell.hpp"
#include "rails/shm/segment.hpp"

namespace headway::rails::shm {

/// Puts this process's reaper to sleep on the bell of its segment. The word of a doorbell tells
/// senders whether they have to ring; ringing makes the bell, a descriptor, readable. One word is
/// for a sleep that everything ends, another one for a sleep that packets that can wait do not end.
/// Threads:  `drain_if_due` by the reaper; the rest any thread.
/// Progress: never waits.
class sleeper {
 public:
  explicit sleeper(const segment& mine) noexcept : mine_(&mine) {}

  /// As driver::arm(true), or `arm_for_hurried`: `what` ends the sleep. `anything_to_do` is called
  /// after senders have to ring.
  template <class AnythingToDo>
  [[nodiscard]] bool arm(arrivals what, AnythingToDo&& anything_to_do) noexcept {
    const base::lock_guard guard(lock_);
    if (armed_) disarm_word();
    drain();
    armed_ = what == arrivals::all ? &mine_->head().bell : &mine_->head().hurry_bell;
    doorbell(*armed_).arm();
    if (!anything_to_do()) return true;
    disarm_word();
    return false;
  }
  void disarm() noexcept {
    const base::lock_guard guard(lock_);
    if (armed_) disarm_word();
  }
  /// Reads the byte of an earlier ring from the bell, if one is due.
  [[gnu::always_inline]] void drain_if_due() noexcept {
    if (rang_.load(std::memory_order_relaxed)) [[unlikely]]  // a hint, see `drain`
      try_drain();
  }
  /// Ends this process's own sleep.
  void ring() const noexcept {
    const bool all = doorbell(mine_->head().bell).must_ring(true);
    const bool hurried = doorbell(mine_->head().hurry_bell).must_ring(true);
    if (all || hurried) mine_->ring_bell();
  }
  /// Awake for long: senders need no fence from now on.
  void clear_strict() const noexcept {
    doorbell(mine_->head().bell).clear_strict();
    doorbell(mine_->head().hurry_bell).clear_strict();
  }
  /// For good: tells senders that this process is closed.
  void shut() const noexcept { doorbell(mine_->head().bell).shut(); }

 private:
  void try_drain() noexcept {
    if (!lock_.try_lock()) return;
    if (!armed_) drain();  // otherwise the byte may be the one that ends the sleep
    lock_.unlock();
  }
  /// The first sender to ring acquires the right to, and writes its byte later: until then a byte
  /// is due. Not called while a thread sleeps.
  void drain() noexcept HEADWAY_REQUIRES(lock_) {
    if (rang_.load(std::memory_order_relaxed) && mine_->drain_bell())
      rang_.store(false, std::memory_order_relaxed);
  }
  void disarm_word() noexcept HEADWAY_REQUIRES(lock_) {
    if (!doorbell(*armed_).disarm()) rang_.store(true, std::memory_order_relaxed);
    armed_ = nullptr;
  }

  const segment* mine_;
  base::spinlock lock_;  // cold: taken around a sleep
  // the word by which a thread sleeps, or is about to; null: none does
  std::atomic<std::uint32_t>* armed_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  // a byte of an earlier ring is or will be in the bell. Relaxed: written under the lock, a hint
  // elsewhere
  std::atomic<bool> rang_{false};
};

}  // namespace headway::rails::shm
