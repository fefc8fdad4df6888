#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"

namespace headway::rails {

/// Memory in which the processes of a node publish small values: each writes its own lines and
/// reads those of all others, without a message. A slot belongs to one group of processes for ever.
/// Shape:    `slots` slots of `lines` lines for each process, zero at first.
/// Threads:  every function any thread.
/// Progress: never waits; `wake` enters the kernel where the peer sleeps.
class shm_slots {
 public:
  static constexpr std::uint32_t slots = 32;
  static constexpr std::size_t lines = 2;
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t slot_bytes = lines * line_bytes;
  static constexpr std::size_t total_bytes = slots * slot_bytes;

  /// Waits until peers have written something.
  class watcher {
   public:
    /// Whether it has been written. Any thread; must not wait.
    [[nodiscard]] virtual bool ready() const noexcept = 0;

   protected:
    ~watcher() = default;
  };

  /// The lines of a process in the slot, this process included; null: its memory is not visible
  /// here.
  [[nodiscard]] virtual std::byte* lines_of(peer_id peer, std::uint32_t slot) noexcept = 0;
  /// To be called after a store into an own line that `peer` must see, whether it runs or sleeps.
  virtual void wake(peer_id peer) noexcept = 0;
  /// From now on no thread sleeps on this rail while `w` is ready. Not for hot paths.
  virtual void watch(watcher& w) = 0;
  virtual void unwatch(watcher& w) noexcept = 0;

  /// Taken while a group agrees on a slot, by one group of a process at a time. False: it is taken.
  [[nodiscard]] bool try_reserve() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    return choosing_.try_lock();
  }
  void end_reservation() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS { choosing_.unlock(); }
  /// The slots that this process has never used, a bit each. Only while reserved.
  [[nodiscard]] std::uint32_t unused() const noexcept { return unused_; }
  void use(std::uint32_t slot) noexcept { unused_ &= ~(std::uint32_t{1} << slot); }

 protected:
  ~shm_slots() = default;

 private:
  base::spinlock choosing_;
  std::uint32_t unused_ = ~std::uint32_t{0};  // under choosing_
};

static_assert(shm_slots::slots == 32, "a bit of unused_ each");

}  // namespace headway::rails
