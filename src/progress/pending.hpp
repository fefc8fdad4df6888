#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// How much waits for progress: requests, open receives, sleeping threads. One-shot ltasks wait in
/// their queues, which say so themselves (unrun.hpp).
/// Shape:    one word: the balance below, the number of starts above; at most 2^32 - 1 pending; one
///           of what was not counted here.
/// Threads:  any.
/// Progress: never waits; one addition each.
template <template <class> class Atomic = base::atomic>
class basic_pending {
 public:
  /// seq_cst: the pusher's half of the store-load pair with `basic_gate::close`.
  void started() noexcept { word_.fetch_add(one_start + 1, std::memory_order_seq_cst); }  // (A)
  /// Relaxed: an end is seen late at worst, and then somebody looks once too often.
  void ended(std::uint32_t count = 1) noexcept {
    word_.fetch_sub(count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t balance() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_seq_cst));  // (B)
  }
  /// So many things have begun and ended. No read-modify-write: where two say so at once one of
  /// them is lost, and yet the number has changed.
  void passed(std::uint32_t count) noexcept {
    passed_.store(passed_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  /// A number that changes with every start; a hint, carries nothing.
  [[nodiscard]] std::uint32_t starts() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) >> 32) +
           passed_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t one_start = std::uint64_t{1} << 32;
  Atomic<std::uint64_t> word_{0};
  Atomic<std::uint32_t> passed_{0};
};

/// Where background threads sleep without a time limit while there is nothing for them to do.
/// Shape:    one futex word: 1 while somebody sleeps here or is about to.
/// Threads:  any number sleep, any open.
/// Progress: `open` never waits. The sleep itself is the caller's, on `futex_word` while it is 1.
template <template <class> class Atomic = base::atomic>
class basic_gate {
  // The sleeper writes (C) and then reads whether there is work (B); who brings work writes it (A)
  // and then reads (O). All four are seq_cst, so at least one of the two sees the other's: work
  // that is not seen finds the gate closed, and opens it. One who opens wakes all who sleep.
  // Checked by: tests/model/gate_model.cpp.
 public:
  void close() noexcept { word_.store(1, std::memory_order_seq_cst); }  // (C)
  /// Is anybody to be woken? A load on the path of every message.
  [[nodiscard]] bool closed() const noexcept {
    return word_.load(std::memory_order_seq_cst) == 1;  // (O)
  }
  /// True: the caller must wake every sleeper of the futex word.
  [[nodiscard]] bool open() noexcept { return word_.exchange(0, std::memory_order_seq_cst) == 1; }
  [[nodiscard]] Atomic<std::uint32_t>& futex_word() noexcept { return word_; }

 private:
  Atomic<std::uint32_t> word_{0};
};

}  // namespace headway::progress
