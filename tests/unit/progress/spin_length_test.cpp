#include "progress/waiting/spin_length.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace headway::progress::testing::spin_length_tests {
namespace {

TEST(spin_length, of_a_wait_that_recently_was_short_is_at_least_that_of_a_sleep) {
  std::uint32_t brief = 0;
  EXPECT_EQ(adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 100}, brief), 50'000u);
  EXPECT_EQ(adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 40'000}, brief), 80'000u);
  EXPECT_EQ(brief, 0u);
}

TEST(spin_length, of_the_only_thread_that_waits_is_long_enough_for_a_few_long_waits) {
  std::uint32_t brief = 0;
  spin_situation now{.setting_ns = 50'000, .recent_ns = 100, .one_waiter = true};
  EXPECT_EQ(adaptive_spin_ns(now, brief), 1'000'000u);
  now.recent_ns = 600'000;
  EXPECT_EQ(adaptive_spin_ns(now, brief), 1'200'000u);
  now.recent_ns = 3'000'000;
  EXPECT_EQ(adaptive_spin_ns(now, brief), 5'000u) << "most of its waits are long";
  now = {.setting_ns = 50'000, .oversubscribed_by_others = true, .one_waiter = true};
  EXPECT_EQ(adaptive_spin_ns(now, brief), 2'000u) << "others want the processor";
}

TEST(spin_length, of_a_thread_that_another_one_polls_for_follows_its_recent_waits) {
  std::uint32_t long_waits = 0;
  EXPECT_EQ(watch_length_ns(50'000, 100, long_waits), 50'000u);
  EXPECT_EQ(watch_length_ns(50'000, 100'000, long_waits), 200'000u);
  EXPECT_EQ(long_waits, 0u);
  int watched = 0;  // they may be long only because all of them sleep
  for (int i = 0; i < 64; ++i) watched += watch_length_ns(50'000, 300'000, long_waits) == 200'000u;
  EXPECT_EQ(watched, 8);
}

TEST(spin_length, after_a_short_sleep_that_ended_nothing_is_that_of_a_sleep) {
  const spin_situation free{.setting_ns = 50'000};
  EXPECT_EQ(spin_after_sleep_ns(free, 20'000, 5'000), 50'000u);
  EXPECT_EQ(spin_after_sleep_ns(free, 50'000, 100'000), 5'000u) << "nothing follows soon";
  EXPECT_EQ(spin_after_sleep_ns(free, 50'000, 1'000), 1'000u);
  const spin_situation wanted{.setting_ns = 50'000, .oversubscribed_by_others = true};
  EXPECT_EQ(spin_after_sleep_ns(wanted, 20'000, 2'000), 2'000u) << "others want the processor";
}

TEST(spin_length, of_a_thread_with_its_own_share_is_long_unless_several_were_vain) {
  for (const std::uint32_t vain : {0u, 3u}) EXPECT_EQ(spin_in_turn_ns(vain, 2'000), 200'000u);
  int long_ones = 0;
  for (std::uint32_t vain = 4; vain < 84; ++vain) {
    const auto spin = spin_in_turn_ns(vain, 2'000);
    long_ones += spin == 200'000 ? 1 : 0;
    EXPECT_TRUE(spin == 200'000 || spin == 2'000);
  }
  EXPECT_EQ(long_ones, 10) << "one in eight tries";
}

TEST(spin_length, of_a_wait_that_recently_took_as_long_as_some_sleeps_is_still_longer_than_it) {
  std::uint32_t brief = 0;
  EXPECT_EQ(adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 60'000}, brief), 120'000u);
  EXPECT_EQ(adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 1'000'000}, brief), 2'000'000u);
  EXPECT_EQ(brief, 0u);
}

// Ranks that wait for each other in turn: each wait lasts as long as the sleeps of all others.
TEST(spin_length, does_not_keep_a_chain_of_ranks_asleep_that_once_slept) {
  constexpr std::uint64_t wake_ns = 40'000, answer_ns = 500;
  constexpr int ranks = 16;
  std::array<std::uint64_t, ranks> recent_ns;
  recent_ns.fill(wake_ns * ranks);  // as after a time in which others wanted the processors
  std::uint32_t brief = 0;
  std::uint64_t round_ns = 0;
  for (int round = 0; round < 20; ++round) {
    const auto waited_ns = std::max(round_ns, answer_ns);
    round_ns = 0;
    for (auto& recent : recent_ns) {
      const auto spin = adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = recent}, brief);
      round_ns += answer_ns + (spin < waited_ns ? wake_ns : 0);
      recent += waited_ns / 8;
      recent -= recent / 8;
    }
  }
  EXPECT_EQ(round_ns, ranks * answer_ns);
}

TEST(spin_length, tries_now_and_then_whether_waits_are_long_only_because_both_ends_sleep) {
  std::uint32_t brief = 0;
  int tries = 0;
  for (int i = 0; i < 64; ++i) {
    const auto length = adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 1'500'000}, brief);
    EXPECT_TRUE(length == 5'000 || length == 1'000'000) << length;
    tries += length == 1'000'000;
  }
  EXPECT_EQ(tries, 8);
}

TEST(spin_length, tries_nothing_where_waits_are_long_by_themselves_or_others_want_the_processor) {
  std::uint32_t brief = 0;
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(adaptive_spin_ns({.setting_ns = 50'000, .recent_ns = 3'000'000}, brief), 5'000u);
    EXPECT_EQ(
        adaptive_spin_ns({.setting_ns = 1'000'000, .recent_ns = 2'000'000, .yields = true}, brief),
        5'000u);
    EXPECT_EQ(
        adaptive_spin_ns(
            {.setting_ns = 50'000, .recent_ns = 60'000, .oversubscribed_by_others = true}, brief),
        2'000u);
  }
}

}  // namespace
}  // namespace headway::progress::testing::spin_length_tests
