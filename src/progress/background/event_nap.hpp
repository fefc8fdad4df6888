#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/futex.hpp"

namespace headway::progress {

/// The event thread's naps between two polls, and a measurement of the cost of a wake-up.
/// Threads:  `end` and `wake_ns` any; `sleep` and `learn` the event thread.
class event_nap {
 public:
  /// Sleeps until the deadline or `end`, unless `stop` is set. seq_cst: if a stop is not seen here,
  /// `end` follows it and changes the word after it was read.
  void sleep(const base::atomic<std::uint32_t>& stop, std::uint64_t deadline_ns) noexcept {
    const auto word = word_.load(std::memory_order_relaxed);
    if (stop.load(std::memory_order_seq_cst)) return;
    base::futex_wait(word_, word, deadline_ns);
  }
  /// The same while a thread that waits does the work.
  void sleep_beside_waiting(const base::atomic<std::uint32_t>& stop,
                            std::uint64_t deadline_ns) noexcept {
    relies_.store(true, std::memory_order_relaxed);
    sleep(stop, deadline_ns);
    relies_.store(false, std::memory_order_relaxed);
  }
  /// A thread that stops waiting while something is pending has to call `end`. Relaxed: a hint; if
  /// it is outdated, the work is late by the rest of the nap.
  [[nodiscard]] bool relies_on_waiting_thread() const noexcept {
    return relies_.load(std::memory_order_relaxed);
  }
  /// Ends the current nap, if there is one. A system call.
  void end() noexcept {
    word_.fetch_add(1, std::memory_order_relaxed);  // the futex compares it; it carries no data
    base::futex_wake(word_, 1);
  }

  /// How late background threads recently ran after they were due: a moving average. Relaxed: a
  /// hint.
  [[nodiscard]] std::uint64_t wake_ns() const noexcept {
    return wake_ns_.load(std::memory_order_relaxed);
  }
  void learn(std::uint64_t took_ns) noexcept {
    const auto before = wake_ns();
    wake_ns_.store(before - before / 8 + took_ns / 8, std::memory_order_relaxed);
  }

 private:
  base::atomic<std::uint32_t> word_{0};
  base::atomic<bool> relies_{false};
  base::atomic<std::uint64_t> wake_ns_{20'000};
};

}  // namespace headway::progress
