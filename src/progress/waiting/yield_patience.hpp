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
/// Shape:    two bytes; one for each thread.
/// Threads:  one.
class yield_patience {
 public:
  static constexpr std::uint32_t patient_rounds = 16;  ///< half a microsecond to one
  static constexpr std::uint32_t try_period = 16;      ///< one wait in so many tries again

  /// Of the wait that begins: rounds before the first yield.
  [[nodiscard]] std::uint32_t rounds() noexcept {
    if (score_ >= patient_from || ++waits_ % try_period == 0) return patient_rounds;
    return 1;
  }
  /// A wait of `patient_rounds` has ended. `in_time`: before it yielded.
  void learn(bool in_time) noexcept {
    if (in_time) score_ = score_ + gain < score_max ? score_ + gain : score_max;
    else if (score_ > 0) --score_;
  }

 private:
  // One wait in time pays for two in vain: a yield and the way back take twice as long as
  // `patient_rounds` where another rank runs between.
  static constexpr std::uint8_t gain = 3, patient_from = 4, score_max = 12;
  std::uint8_t score_ = patient_from;
  std::uint8_t waits_ = 0;
};

}  // namespace headway::progress
