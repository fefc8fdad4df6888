#include "progress/waiting/yield_patience.hpp"

#include <gtest/gtest.h>

namespace headway::progress::yield_patience_tests {
namespace {

constexpr auto patient = yield_patience::patient_rounds;

/// Patient waits among `waits`, all of which end in time or none.
std::uint32_t patient_waits(yield_patience& patience, std::uint32_t waits, bool in_time) {
  std::uint32_t patient_ones = 0;
  for (std::uint32_t i = 0; i < waits; ++i) {
    if (patience.rounds() != patient) continue;
    ++patient_ones;
    patience.learn(in_time);
  }
  return patient_ones;
}

TEST(yield_patience, lasts_while_answers_come_in_time) {
  yield_patience patience;
  EXPECT_EQ(patient_waits(patience, 1000, true), 1000u);
}

TEST(yield_patience, ends_soon_where_the_answer_needs_this_processor) {
  yield_patience patience;
  patient_waits(patience, 1000, true);
  patient_waits(patience, 64, false);  // learns
  EXPECT_LE(patient_waits(patience, 160, false), 160u / yield_patience::try_period_min);
}

TEST(yield_patience, tries_ever_more_seldom_in_vain) {
  yield_patience patience;
  patient_waits(patience, 10'000, false);
  EXPECT_LE(patient_waits(patience, 10 * yield_patience::try_period_max, false), 10u);
}

TEST(yield_patience, yields_before_the_first_round_where_it_is_not_patient) {
  yield_patience patience;
  patient_waits(patience, 10'000, false);
  while (patience.rounds() == patient) patience.learn(false);
  EXPECT_EQ(patience.rounds(), 0u);
}

TEST(yield_patience, tries_again_now_and_then_and_returns_with_successes) {
  yield_patience patience;
  patient_waits(patience, 1000, false);
  EXPECT_GE(patient_waits(patience, yield_patience::try_period_max, false), 1u);
  std::uint32_t until_patient = 0;
  while (patience.rounds() != patient) ++until_patient;
  EXPECT_LT(until_patient, yield_patience::try_period_max);
  patience.learn(true);
  // One success is not yet a habit; a second one within the next tries is.
  patient_waits(patience, 2 * yield_patience::try_period_min, true);
  EXPECT_EQ(patient_waits(patience, 100, true), 100u);
}

TEST(yield_patience, one_success_in_three_is_enough) {
  yield_patience patience;
  std::uint32_t patient_ones = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    if (patience.rounds() != patient) continue;
    patience.learn(++patient_ones % 3 == 0);
  }
  EXPECT_GE(patient_ones, 900u);
}

}  // namespace
}  // namespace headway::progress::yield_patience_tests
