#include "sampling/cutting.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/unit/sampling/curves.hpp"

namespace headway::sampling {
namespace {

struct cut {
  bool pays = false;
  std::vector<std::uint64_t> shares;
};

cut cut_of(const std::vector<way>& ways, std::uint64_t bytes, double wake_ns,
           std::uint64_t least = 1) {
  cut c;
  c.shares.resize(ways.size(), 77);
  c.pays = cutting_pays(ways, bytes, wake_ns, c.shares, least);
  return c;
}

TEST(cutting, pays_when_half_the_time_is_more_than_a_wake_up) {
  const auto c = curve::straight(1'000, 1);
  EXPECT_TRUE(cut_of({{&c}, {&c}}, 32'768, 6'000).pays);
  EXPECT_FALSE(cut_of({{&c}, {&c}}, 32'768, 17'000).pays);
  EXPECT_FALSE(cut_of({{&c}, {&c}}, 8'192, 6'000).pays);
}

TEST(cutting, gives_the_one_who_is_awake_more_so_that_all_end_together) {
  const auto c = curve::straight(1'000, 1);
  const auto o = cut_of({{&c}, {&c}}, 40'000, 4'000);
  ASSERT_TRUE(o.pays);
  EXPECT_NEAR(static_cast<double>(o.shares[0]), 22'000, 2);
  EXPECT_NEAR(static_cast<double>(o.shares[1]), 18'000, 2);
}

TEST(cutting, needs_a_second_rail_and_two_parts_that_are_large_enough) {
  const auto c = curve::straight(10, 1);
  EXPECT_FALSE(cut_of({}, 1'000'000, 0).pays);
  EXPECT_FALSE(cut_of({{&c}}, 1'000'000, 0).pays);
  EXPECT_FALSE(cut_of({{&c}, {&c}}, 4'000, 0, 2'048).pays);
  EXPECT_TRUE(cut_of({{&c}, {&c}}, 5'000, 0, 2'048).pays);
}

TEST(cutting, leaves_alone_what_a_better_rail_carries_sooner_whole) {
  const auto slow = curve::straight(1'000, 0.01);
  const auto quick = curve::straight(1'000, 1);
  EXPECT_FALSE(cut_of({{&slow}, {&quick}}, 32'768, 3'000).pays);
}

/// The time that the caller needs without waking a thread, and the time of the cut.
TEST(cutting, never_pays_where_it_gains_less_than_waking_costs) {
  std::mt19937_64 random(5);
  int paid = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<curve> curves;
    const auto count = 2 + random() % 6;
    for (std::size_t i = 0; i < count; ++i) curves.push_back(any_curve(random));
    std::vector<way> ways;
    for (const auto& c : curves) ways.push_back({.time = &c});
    const auto bytes = 1 + random() % (1 << 17);
    const double wake_ns = std::uniform_real_distribution(0.0, 1e5)(random);
    const auto o = cut_of(ways, bytes, wake_ns, 2'048);
    if (!o.pays) continue;
    ++paid;
    double alone = HUGE_VAL;
    double end = end_of(ways[0], o.shares[0]);
    for (std::size_t i = 0; i < count; ++i) {
      alone = std::min(alone, end_of(ways[i], bytes));
      if (i > 0 && o.shares[i] > 0) end = std::max(end, wake_ns + end_of(ways[i], o.shares[i]));
    }
    ASSERT_EQ(std::accumulate(o.shares.begin(), o.shares.end(), std::uint64_t{0}), bytes);
    ASSERT_GT(o.shares[0], 0u);
    ASSERT_LT(o.shares[0], bytes);
    ASSERT_LT(end, alone) << "round " << round;
    std::vector<std::uint64_t> awake(count);
    ASSERT_GT(alone - divide(ways, bytes, awake, 2'048), wake_ns) << "round " << round;
  }
  EXPECT_GT(paid, 100);
}

}  // namespace
}  // namespace headway::sampling
