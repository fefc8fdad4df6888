#pragma once

#include <cstdint>

namespace headway::progress {

/// How many rounds a wait polls before it first yields, while the job's ranks outnumber the
/// processors.
///
/// If the rank that answers has a processor of its own at the moment, its answer comes sooner than
/// a yield and the way back take, and the two ranks keep both processors for as long as they answer
/// each other. If it waits for this processor, every round before the yield is lost. Which of the
/// two holds depends on where the system has placed the ranks, so it is learnt from the waits.
/// Shape:    six bytes; one for each thread.
/// Threads:  one.
class yield_patience {
 public:
  static constexpr std::uint32_t patient_rounds = 16;  ///< half a microsecond to one
  // One wait in so many tries again: in ever more while the tries are in vain.
  static constexpr std::uint16_t try_period_min = 16, try_period_max = 256;

  /// Of the wait that begins: rounds before the first yield. 0: it yields before its first round.
  [[nodiscard]] std::uint32_t rounds() noexcept {
    if (score_ >= patient_from || until_try_ == 0) return patient_rounds;
    --until_try_;
    return 0;
  }
  /// A wait of `patient_rounds` has ended. `in_time`: before it yielded.
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

 private:
  // One wait in time pays for two in vain: a yield and the way back take twice as long as
  // `patient_rounds` where another rank runs between.
  static constexpr std::uint8_t gain = 3, patient_from = 4, score_max = 12;
  std::uint8_t score_ = patient_from;
  std::uint16_t try_period_ = try_period_min;
  std::uint16_t until_try_ = try_period_min - 1;
};

}  // namespace headway::progress
