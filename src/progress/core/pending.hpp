#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// The number of things that wait for progress: requests, open receives, sleeping threads. One-shot
/// ltasks are counted by their queues (taken_count.hpp).
/// Shape:    two words. One has the balance in its lower half and the number of starts in the
///           upper, at most 2^32 - 1 each; the other counts starts that are not counted there, as
///           a hint.
/// Threads:  any.
/// Progress: never waits; one addition each.
template <template <class> class Atomic = base::atomic>
class basic_pending {
 public:
  /// seq_cst: the starter's half of the store-load pair with `basic_gate::close`.
  void started() noexcept { word_.fetch_add(one_start + 1, std::memory_order_seq_cst); }  // (A)
  /// Relaxed: an end may be seen late, and then a thread looks once in vain. An end may be counted
  /// before its start: a packet that one thread gives to a driver ends in whichever thread reaps
  /// its event. For that moment the balance is one too low, and (A) is still to come.
  void ended(std::uint32_t count = 1) noexcept {
    word_.fetch_sub(count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t balance() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_seq_cst));  // (B)
  }
  /// So many starts of what has ended, or is one of several that count as one. Not a
  /// read-modify-write: of two concurrent additions one may be lost, but the number has changed.
  void passed(std::uint32_t count) noexcept {
    passed_.store(passed_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  /// Changes with every start; a hint, carries no data.
  [[nodiscard]] std::uint32_t starts() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) >> 32) +
           passed_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t one_start = std::uint64_t{1} << 32;
  Atomic<std::uint64_t> word_{0};
  Atomic<std::uint32_t> passed_{0};
};

/// The word on which background threads sleep while there is nothing for them to do
/// (quiet_sleep.hpp).
/// Shape:    one futex word. Odd while a thread sleeps here or is about to; its other bits count
///           the openings.
/// Threads:  any number sleep, any open.
/// Progress: `open` never waits. The caller itself sleeps, on `futex_word` while it is what `close`
///           returned.
template <template <class> class Atomic = base::atomic>
class basic_gate {
  // The sleeper writes (C) and then checks for work (B); a thread that brings work writes it (A)
  // and then reads (O). All four are seq_cst, so at least one of the two sees the other's: if the
  // sleeper misses the work, the other thread finds the gate closed and opens it. Opening wakes all
  // sleepers. Hazard: one that has missed the work is not asleep yet when the gate opens, and
  // another one closes it again. The count has changed, so the first does not fall asleep.
  // Checked by: tests/model/gate_model.cpp.
 public:
  /// The word to sleep on.
  [[nodiscard]] std::uint32_t close() noexcept {
    return word_.fetch_or(1, std::memory_order_seq_cst) | 1;  // (C)
  }
  /// Whether there is a sleeper to wake. A load on the path of every message.
  [[nodiscard]] bool closed() const noexcept {
    return (word_.load(std::memory_order_seq_cst) & 1) != 0;  // (O)
  }
  /// True: the caller must wake every sleeper of the futex word.
  [[nodiscard]] bool open() noexcept {
    auto seen = word_.load(std::memory_order_seq_cst);
    while ((seen & 1) != 0)
      if (word_.compare_exchange_strong(seen, seen + 1, std::memory_order_seq_cst)) return true;
    return false;
  }
  [[nodiscard]] Atomic<std::uint32_t>& futex_word() noexcept { return word_; }

 private:
  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
