#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace headway::progress {

/// How many rounds a wait polls before it first yields, while the job's ranks outnumber the
/// processors.
///
/// If the rank that answers has a processor of its own at the moment, its answer comes sooner than
/// a yield and the way back take, and the two ranks keep both processors for as long as they answer
/// each other. If it waits for this processor, every round before the yield is lost. Which of the
/// two holds depends on where the system has placed the ranks, so it is learnt from the waits. How
/// long a round takes is measured, too: over TCP 16 of them take more than 10 us.
/// Shape:    six bytes; one for each thread.
/// Threads:  one.
class yield_patience {
 public:
  static constexpr std::uint8_t rounds_max = 16;  ///< half a microsecond to one in shared memory
  static constexpr std::uint64_t patient_ns = 3'000;  ///< or one round, if that is longer
  // One wait in so many tries again: in ever more while the tries are in vain.
  static constexpr std::uint16_t try_period_min = 16, try_period_max = 256;

  /// For how many rounds a patient wait polls.
  [[nodiscard]] std::uint32_t patient_rounds() const noexcept { return patient_rounds_; }
  /// Of the wait that begins: rounds before the first yield. 0: it yields before its first round.
  [[nodiscard]] std::uint32_t rounds() noexcept {
    if (score_ >= patient_from || until_try_ == 0) return patient_rounds_;
    --until_try_;
    return 0;
  }
  /// A patient wait has ended. `in_time`: before it yielded.
  void learn(bool in_time) noexcept {
    if (in_time) {
      score_ = score_ + gain < score_max ? score_ + gain : score_max;
      try_period_ = try_period_min;
    } else if (score_ > 0) {
      --score_;
    } else if (try_period_ < try_period_max) {
      try_period_ = static_cast<std::uint16_t>(2 * try_period_);
    }
    until_try_ = static_cast<std::uint16_t>(try_period_ - 1);
  }

  /// So many rounds of a patient wait, in which nothing moved, have taken so long.
  void learn_duration(std::uint32_t rounds, std::uint64_t took_ns) noexcept {
    const auto fitting = patient_ns * rounds / std::max<std::uint64_t>(took_ns, 1);
    patient_rounds_ = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(fitting, 1, rounds_max));
  }

 private:
  // One wait in time pays for two in vain: a yield and the way back take twice as long as a patient
  // wait where another rank runs between.
  static constexpr std::uint8_t gain = 3, patient_from = 4, score_max = 12;
  std::uint8_t score_ = patient_from;
  std::uint8_t patient_rounds_ = rounds_max;
  std::uint16_t try_period_ = try_period_min;
  std::uint16_t until_try_ = try_period_min - 1;
};

/// Takes the time of some rounds of a patient wait: not of the first ones, in which most answers in
/// shared memory come, unless rounds are known to be long.
/// Threads:  one.
class patience_timer {
 public:
  /// Of a wait that is patient for so many rounds.
  explicit patience_timer(std::uint32_t patience) noexcept
      : to_(std::min<std::uint32_t>(patience, 8)), from_(to_ / 2) {}

  /// To be called before the first round and after each one, with their number until then.
  void after(std::uint32_t rounds, base::clock clock, yield_patience& of) noexcept {
    if (rounds == from_) since_ns_ = clock.now_ns();
    else if (rounds == to_) of.learn_duration(to_ - from_, clock.now_ns() - since_ns_);
  }

 private:
  std::uint32_t to_, from_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace headway::progress
