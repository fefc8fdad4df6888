#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/driver.hpp"

namespace headway::rails {

/// Memory in which the processes of a node show each other values: each writes its own and reads
/// all others', without a message. A slot belongs to one group of processes for ever.
/// Shape:    `slots` slots for each process, numbered from 0, zero at first. A slot has `lines`
///           lines, and a bank of many bytes behind a page for what describes them. When a
///           stream has gone round in a bank of this size, its first bytes have left the first
///           caches of both cores, and are written again faster (docs/decisions/0021;
///           bench/rails/node_copy.c).
/// Threads:  every function any thread.
/// Progress: never waits; `wake` enters the kernel where the peer sleeps.
class shm_slots {
 public:
  static constexpr std::uint32_t slots = 32;
  static constexpr std::size_t lines = 2;
  static constexpr std::size_t line_bytes = 128;  ///< two cache lines
  static constexpr std::size_t slot_bytes = lines * line_bytes;
  static constexpr std::size_t total_bytes = slots * slot_bytes;
  static constexpr std::size_t bank_bytes = 2 * 1024 * 1024;
  static constexpr std::size_t bank_page_bytes = 4096;
  /// Behind the bank: for streams of two processes that pass such areas to each other.
  static constexpr std::size_t passed_at = bank_page_bytes + bank_bytes;
  static constexpr std::size_t passed_bytes = 1024 * 1024;
  static constexpr std::size_t banked_bytes = passed_at + passed_bytes;  ///< of a slot

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
  /// The slot's page of a process, this one included, which has reserved it, and the bank behind
  /// it; null: its memory cannot be seen from here.
  [[nodiscard]] virtual std::byte* bank_of(peer_id peer, std::uint32_t slot) noexcept = 0;
  /// Keeps memory for the slot's page and bank of this process. False: there is too little. Cold.
  [[nodiscard]] virtual bool reserve_bank(std::uint32_t slot) noexcept = 0;
  /// The same for so many bytes behind the bank, from `passed_at` on.
  [[nodiscard]] virtual bool reserve_passed(std::uint32_t slot, std::size_t bytes) noexcept = 0;
  /// After a store into own memory that `peer` must see, awake or asleep. `can_wait`: as of a
  /// packet (rails::packet), nothing depends on it but the thread that wants it.
  virtual void wake(peer_id peer, bool can_wait) noexcept = 0;
  /// From now on no thread sleeps on this rail while `w` is ready. Not for hot paths.
  virtual void watch(watcher& w) = 0;
  virtual void unwatch(watcher& w) noexcept = 0;

  /// Taken while a group agrees on a slot, by one group of a process at a time. False: it is taken.
  [[nodiscard]] bool try_reserve() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    return choosing_.try_lock();
  }
  void end_reservation() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS { choosing_.unlock(); }
  /// The slots that this process has never used, a bit each. Only while reserved.
  [[nodiscard]] std::uint32_t unused() const noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    return unused_;
  }
  void use(std::uint32_t slot) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    HEADWAY_ASSERT(slot < slots);
    unused_ &= ~(std::uint32_t{1} << slot);
  }

  /// Whether copying out of another process was found to be faster than copying through a bank, by
  /// a group of which this process is a member. Any thread; relaxed, each value says it all.
  [[nodiscard]] std::optional<bool> lending_is_faster() const noexcept {
    const auto known = lending_.load(std::memory_order_relaxed);
    return known == 0 ? std::nullopt : std::optional(known > 0);
  }
  void note_lending(bool faster) noexcept {
    lending_.store(faster ? 1 : -1, std::memory_order_relaxed);
  }

 protected:
  ~shm_slots() = default;

 private:
  std::atomic<int> lending_{0};  // -1: it is slower; 0: not known
  base::spinlock choosing_;
  std::uint32_t unused_ HEADWAY_GUARDED_BY(choosing_) = ~std::uint32_t{0};
};

static_assert(shm_slots::slots == 32, "a bit of unused_ each");

}  // namespace headway::rails
