#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress {

/// Whether a waiting thread keeps its processor although other threads of the process were woken,
/// and for how many polling rounds.
///
/// Where many pairs of threads exchange messages and processors are few, a message takes a fraction
/// of a microsecond while both threads of a pair run, and at least a context switch on each side
/// otherwise. If a thread keeps its processor until the thread that answers runs in the other
/// process, both run at the same time, for a turn of many messages. Where no such answer comes,
/// because one thread sends to many, the rounds until the limit are lost. Which of the two holds is
/// learnt from the waits of all threads of the process: an answer in time saves a context switch on
/// each side, a wake-up of another thread meanwhile adds one, and rounds in vain take as long.
/// Shape:    three words; one for each engine.
/// Threads:  any. Relaxed: all values are hints, and a lost change makes no difference.
/// Source:   A. C. Arpaci-Dusseau, D. E. Culler and A. Mainwaring, Scheduling with implicit
///           information in distributed systems, SIGMETRICS 1998.
class coscheduling {
 public:
  // For the first answer of a turn, and for the further ones: about 12 us and 3 us.
  static constexpr std::uint32_t rounds_to_partner = 256, rounds_to_answer = 64;
  // A trial begins at the first of so many waits that could keep their processor: of ever more
  // while trials fail.
  static constexpr std::int32_t trial_period_min = 16, trial_period_max = 4096;
  static constexpr std::uint32_t waits_in_turn = 128, usual_waits_in_turn = 16;

  /// Of a wait that could keep its processor: for so many rounds it may. 0: it gives way.
  [[nodiscard]] std::uint32_t rounds(bool first_in_turn) noexcept {
    if (!active() && !begin_trial()) return 0;
    return first_in_turn ? rounds_to_partner : rounds_to_answer;
  }
  /// After so many waits that have ended awake, while woken threads need the processor, a thread
  /// yields to those.
  [[nodiscard]] std::uint32_t turn() const noexcept {
    return active() ? waits_in_turn : usual_waits_in_turn;
  }

  // Of a wait that keeps its processor:
  void answered() noexcept {
    const auto score = score_.load(std::memory_order_relaxed);
    score_.store(std::min(score + 1, score_max), std::memory_order_relaxed);
    if (score + 1 >= score_max) trial_period_.store(trial_period_min, std::memory_order_relaxed);
  }
  void woke(std::size_t threads) noexcept { lose(static_cast<std::int32_t>(threads)); }
  /// No answer came within `rounds`.
  void waited_in_vain(std::uint32_t rounds) noexcept {
    lose(static_cast<std::int32_t>(rounds / rounds_of_switch));
  }

 private:
  // A trial has to bear the messages to all threads that begin with an answer under way.
  static constexpr std::int32_t score_max = 192;
  static constexpr std::uint32_t rounds_of_switch = 32;  // that take as long as a context switch

  [[nodiscard]] bool active() const noexcept { return score_.load(std::memory_order_relaxed) > 0; }
  [[nodiscard]] bool begin_trial() noexcept {
    const auto left = until_trial_.load(std::memory_order_relaxed) - 1;
    until_trial_.store(left, std::memory_order_relaxed);
    if (left > 0) return false;
    score_.store(score_max, std::memory_order_relaxed);
    return true;
  }
  void lose(std::int32_t points) noexcept {
    const auto before = score_.load(std::memory_order_relaxed);
    if (before <= 0) return;
    score_.store(before - points, std::memory_order_relaxed);
    if (before > points) return;
    const auto period = trial_period_.load(std::memory_order_relaxed);
    until_trial_.store(period, std::memory_order_relaxed);
    trial_period_.store(std::min(2 * period, trial_period_max), std::memory_order_relaxed);
  }

  base::atomic<std::int32_t> score_{0};
  base::atomic<std::int32_t> until_trial_{trial_period_min};
  base::atomic<std::int32_t> trial_period_{trial_period_min};
};

}  // namespace headway::progress
