#include "progress/waiting/yield_patience.hpp"

#include <gtest/gtest.h>

namespace headway::progress::yield_patience_tests {
namespace {

constexpr auto patient = yield_patience::rounds_max;

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

/// The patience of a wait in which each round takes so long, as `waiting` spends it.
std::uint32_t spent(yield_patience& patience, std::uint64_t round_ns) {
  base::atomic<std::uint64_t> now_ns{1};
  const base::clock clock(now_ns);
  const auto granted = patience.rounds();
  patience_timer timer(granted);
  timer.after(0, clock, patience);
  std::uint32_t rounds = 0;
  while (rounds < granted) {
    now_ns.fetch_add(round_ns, std::memory_order_relaxed);
    timer.after(++rounds, clock, patience);
    if (rounds >= patience.patient_rounds()) break;
  }
  patience.learn(true);  // so that the next wait is patient, too
  return rounds;
}

TEST(yield_patience, rounds_of_shared_memory_leave_all_of_it) {
  yield_patience patience;
  EXPECT_EQ(spent(patience, 60), patient);
  EXPECT_EQ(spent(patience, 60), patient);
}

TEST(yield_patience, long_rounds_shorten_it) {
  yield_patience patience;
  EXPECT_LT(spent(patience, 1'000), patient);  // noticed on the way
  EXPECT_EQ(spent(patience, 1'000), 3u);
  EXPECT_EQ(spent(patience, 1'000), 3u);
}

TEST(yield_patience, is_one_round_at_least) {
  yield_patience patience;
  spent(patience, 1'000'000);
  EXPECT_EQ(spent(patience, 1'000'000), 1u);
}

TEST(yield_patience, returns_where_rounds_are_short_again) {
  yield_patience patience;
  spent(patience, 1'000'000);  // another thread had the processor for one round
  EXPECT_LE(spent(patience, 60), 1u);
  EXPECT_EQ(spent(patience, 60), patient);
}

}  // namespace
}  // namespace headway::progress::yield_patience_tests
