#include "sampling/division.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/unit/sampling/curves.hpp"

namespace headway::sampling {
namespace {

struct outcome {
  double end_ns = 0;
  std::vector<std::uint64_t> shares;
};

outcome divided(const std::vector<way>& ways, std::uint64_t bytes, std::uint64_t least = 1) {
  outcome o;
  o.shares.resize(ways.size(), 77);
  o.end_ns = divide(ways, bytes, o.shares, least);
  return o;
}

struct situation {
  std::vector<curve> curves;
  std::vector<way> ways;
  std::uint64_t bytes = 0;
};

situation any_situation(std::mt19937_64& random) {
  situation s;
  const auto count = 1 + random() % ways_max;
  for (std::size_t i = 0; i < count; ++i) s.curves.push_back(any_curve(random));
  for (const auto& c : s.curves) {
    const bool busy = random() % 3 == 0;
    const double busy_ns = std::uniform_real_distribution(0.0, 1e8)(random);
    s.ways.push_back({.time = &c, .busy_ns = busy ? busy_ns : 0.0});
  }
  s.bytes = 1 + random() % (std::uint64_t{1} << (random() % 36));
  return s;
}

TEST(division, two_rails_of_known_rates_share_in_their_proportion) {
  const auto quick = curve::straight(50'000, 0.125);  // 1 Gbit/s
  const auto slow = curve::straight(50'000, 0.075);   // 600 Mbit/s
  const auto o = divided({{&quick}, {&slow}}, 16'000'000);
  EXPECT_NEAR(static_cast<double>(o.shares[0]), 10e6, 10);
  EXPECT_NEAR(o.end_ns, 50'000 + 80e6, 100);
}

TEST(division, a_rail_that_would_not_be_free_in_time_is_left_out) {
  const auto c = curve::straight(10'000, 1);
  const auto o = divided({{&c, 0}, {&c, 5e6}}, 1'000'000);
  EXPECT_EQ(o.shares, (std::vector<std::uint64_t>{1'000'000, 0}));
}

TEST(division, a_busy_rail_gets_less_by_what_it_could_have_carried_meanwhile) {
  const auto c = curve::straight(10'000, 1);
  const auto o = divided({{&c, 0}, {&c, 200'000}}, 1'000'000);
  EXPECT_EQ(o.shares, (std::vector<std::uint64_t>{600'000, 400'000}));
}

TEST(division, shares_smaller_than_the_least_go_to_the_others) {
  const auto quick = curve::straight(10'000, 1);
  const auto slow = curve::straight(10'000, 0.001);
  const auto o = divided({{&quick}, {&slow}}, 1'000'000, 4096);
  EXPECT_EQ(o.shares, (std::vector<std::uint64_t>{1'000'000, 0}));
}

TEST(division, without_rails_or_bytes_there_is_nothing_to_share) {
  EXPECT_EQ(divided({}, 100).end_ns, 0);
  const auto c = curve::straight(10, 1);
  EXPECT_EQ(divided({{&c}, {&c}}, 0).shares, (std::vector<std::uint64_t>{0, 0}));
}

TEST(division, shares_add_up_exactly_for_any_rails_and_sizes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 4000; ++round) {
    const auto s = any_situation(random);
    const auto o = divided(s.ways, s.bytes, 1 + random() % 10'000);
    const auto sum = std::accumulate(o.shares.begin(), o.shares.end(), std::uint64_t{0});
    ASSERT_EQ(sum, s.bytes) << "round " << round;
  }
}

TEST(division, never_ends_later_than_the_best_single_rail) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 4000; ++round) {
    const auto s = any_situation(random);
    const auto o = divided(s.ways, s.bytes, 1 + random() % 10'000);
    double latest = 0;
    double best = HUGE_VAL;
    for (std::size_t i = 0; i < s.ways.size(); ++i) {
      latest = std::max(latest, end_of(s.ways[i], o.shares[i]));
      best = std::min(best, end_of(s.ways[i], s.bytes));
    }
    ASSERT_LE(latest, best);
    ASSERT_DOUBLE_EQ(latest, o.end_ns);
  }
}

/// One sample step of a rail at a size: what the next power of two takes longer. Shares of a few
/// bytes are even to a byte for each rail.
double step_of(const way& w, std::uint64_t bytes) {
  return w.time->ns_for(std::max(2 * bytes, bytes + ways_max)) - w.time->ns_for(bytes);
}

TEST(division, all_rails_that_carry_end_within_one_sample_step_of_each_other) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 4000; ++round) {
    const auto s = any_situation(random);
    const auto o = divided(s.ways, s.bytes);
    for (std::size_t i = 0; i < s.ways.size(); ++i) {
      if (o.shares[i] == 0) continue;
      const double early = o.end_ns - end_of(s.ways[i], o.shares[i]);
      // Times known to 16 digits are uneven by that much on a plateau.
      ASSERT_LE(early, step_of(s.ways[i], o.shares[i]) + o.end_ns * 1e-9) << "round " << round;
    }
  }
}

TEST(division, a_rail_without_a_share_could_not_have_helped) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 4000; ++round) {
    const auto s = any_situation(random);
    const auto o = divided(s.ways, s.bytes);
    for (std::size_t i = 0; i < s.ways.size(); ++i)
      if (o.shares[i] == 0) {
        ASSERT_GE(end_of(s.ways[i], 2) * (1 + 1e-9), o.end_ns) << "round " << round;
      }
  }
}

TEST(division, more_rails_than_it_looks_at_do_no_harm) {
  const auto c = curve::straight(10'000, 1);
  const std::vector<way> ways(ways_max + 5, way{.time = &c});
  const auto o = divided(ways, 1'000'000);
  EXPECT_EQ(std::accumulate(o.shares.begin(), o.shares.end(), std::uint64_t{0}), 1'000'000u);
  EXPECT_EQ(o.shares.back(), 0u);
}

}  // namespace
}  // namespace headway::sampling
