#pragma once

#include <atomic>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/shm/doorbell.hpp"
#include "rails/shm/segment.hpp"

namespace headway::rails::shm {

/// Puts this process's reaper to sleep on the bell of its segment. The doorbell's word tells
/// senders whether they have to ring; ringing makes the bell, a descriptor, readable.
/// Threads:  `quiet_down` by the reaper; the rest any thread.
/// Progress: never waits.
class sleeper {
 public:
  explicit sleeper(const segment& mine) noexcept : mine_(&mine) {}

  /// As driver::arm. `anything_to_do` is called once senders are bound to ring.
  template <class AnythingToDo>
  [[nodiscard]] bool arm(bool sleeping, AnythingToDo&& anything_to_do) noexcept {
    const base::lock_guard guard(lock_);
    if (armed_) get_up();
    if (!sleeping) return true;
    drain();
    armed_ = true;
    doorbell(mine_->head().bell).lie_down();
    if (!anything_to_do()) return true;
    get_up();
    return false;
  }
  /// Reads the byte of an earlier ring from the bell, if one is due.
  [[gnu::always_inline]] void quiet_down() noexcept {
    if (rang_.load(std::memory_order_relaxed)) [[unlikely]]  // a hint, see `drain`
      hush();
  }
  /// Ends this process's own sleep.
  void ring() const noexcept {
    if (doorbell(mine_->head().bell).must_ring(true)) mine_->ring_bell();
  }
  /// Awake for long: senders need no fence from now on.
  void grow_light() const noexcept { doorbell(mine_->head().bell).grow_light(); }
  /// For good: tells senders that this process is closed.
  void shut() const noexcept { doorbell(mine_->head().bell).shut(); }

 private:
  void hush() noexcept {
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
  void get_up() noexcept HEADWAY_REQUIRES(lock_) {
    armed_ = false;
    if (!doorbell(mine_->head().bell).get_up()) rang_.store(true, std::memory_order_relaxed);
  }

  const segment* mine_;
  base::spinlock lock_;                           // cold: taken around a sleep
  bool armed_ HEADWAY_GUARDED_BY(lock_) = false;  // a thread sleeps, or is about to
  // a byte of an earlier ring is or will be in the bell. Relaxed: written under the lock, a hint
  // elsewhere
  std::atomic<bool> rang_{false};
};

}  // namespace headway::rails::shm
