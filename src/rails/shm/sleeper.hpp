#pragma once

#include <atomic>
#include <cstdint>

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
  /// `enlisted`: for the fences of doorbell.hpp; otherwise senders always fence.
  sleeper(const segment& mine, bool enlisted) noexcept : mine_(&mine), enlisted_(enlisted) {}

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
  /// This process has taken or caused so many events. After many of them it has been awake for
  /// long, and senders need no fence from now on. Relaxed: if a change is lost, that comes later.
  void note_awake(std::uint32_t events) noexcept {
    const auto sum = events_awake_.load(std::memory_order_relaxed) + events;
    events_awake_.store(sum < awake_events ? sum : 0, std::memory_order_relaxed);
    if (sum >= awake_events && enlisted_) clear_strict();
  }
  /// For good: tells senders that this process is closed.
  void shut() const noexcept { doorbell(mine_->head().bell).shut(); }

 private:
  static constexpr std::uint32_t awake_events = 4096;

  void clear_strict() const noexcept {
    doorbell(mine_->head().bell).clear_strict();
    doorbell(mine_->head().hurry_bell).clear_strict();
  }
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
  const bool enlisted_;
  std::atomic<std::uint32_t> events_awake_{0};
  base::spinlock lock_;  // cold: taken around a sleep
  // the word by which a thread sleeps, or is about to; null: none does
  std::atomic<std::uint32_t>* armed_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  // a byte of an earlier ring is or will be in the bell. Relaxed: written under the lock, a hint
  // elsewhere
  std::atomic<bool> rang_{false};
};

}  // namespace headway::rails::shm
