#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/atomic.hpp"
#include "base/futex.hpp"
#include "base/spinlock.hpp"

namespace headway::progress {

/// Selects the one thread of several that does their common work, and the others that can take it
/// over.
/// Shape:    a seat for each thread, `seat_count` of them; at the start the first has the work.
/// Threads:  `rest` and `await_turn` by the seat's own thread; `take_rested` and `call` by the
///           thread that has the work; `call_all` any.
/// Progress: short locks; `await_turn` and `pause` sleep; `call` wakes by a system call.
class turn_roster {
  // The call publishes what the thread with the work has written: (C) release -> (A) acquire. A
  // call before its thread sleeps is not lost: the word stays 1, and the futex compares.
 public:
  static constexpr std::size_t seat_count = 8;

  /// From now on the thread of this seat can be called.
  void rest(std::size_t seat) noexcept {
    const base::lock_guard hold(lock_);
    rested_[rested_count_++] = seat;
  }
  /// Takes the seat that has rested longest. It must then be called.
  [[nodiscard]] std::optional<std::size_t> take_rested() noexcept {
    const base::lock_guard hold(lock_);
    if (rested_count_ == 0) return std::nullopt;
    const auto seat = rested_.front();
    --rested_count_;
    for (std::size_t i = 0; i < rested_count_; ++i) rested_[i] = rested_[i + 1];
    return seat;
  }
  /// Gives the work to a seat. The caller must not touch the work any more.
  void call(std::size_t seat) noexcept {
    called_[seat].store(1, std::memory_order_release);  // (C)
    base::futex_wake(called_[seat], 1);
  }
  /// Ends every present and future wait and pause: all threads are to end.
  void call_all() noexcept {
    for (std::size_t seat = 0; seat < seat_count; ++seat) call(seat);
  }
  void await_turn(std::size_t seat) noexcept {
    while (called_[seat].exchange(0, std::memory_order_acquire) == 0)  // (A)
      base::futex_wait(called_[seat], 0);
  }
  /// Sleeps, unless it has been called.
  void pause(std::size_t seat, std::uint64_t until_ns) noexcept {
    base::futex_wait(called_[seat], 0, until_ns);
  }

 private:
  std::array<base::atomic<std::uint32_t>, seat_count> called_{};  // futex words
  base::spinlock lock_;
  std::array<std::size_t, seat_count> rested_ HEADWAY_GUARDED_BY(lock_){};
  std::size_t rested_count_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::progress
