#include "sampling/connections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace headway::sampling {
namespace {

using rates = std::vector<double>;

TEST(connections, as_many_are_chosen_as_carry_more) {
  const rates one{1.0, 1.01, 0.99, 1.0, 1.02};
  const rates two{2.0, 1.98, 2.01, 2.0, 1.99};
  const rates four{4.0, 3.9, 4.1, 4.0, 3.95};
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, two}, {4, four}}), 4);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, two}, {4, two}}), 2);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, one}, {4, one}}), 1);
}

TEST(connections, a_number_that_does_not_pay_hides_no_larger_one_that_does) {
  const rates one{1, 1, 1, 1, 1};
  const rates two{1.05, 1.05, 1.05, 1.05, 1.05};
  const rates four{1.2, 1.2, 1.2, 1.2, 1.2};
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, two}, {4, four}}), 4);
}

TEST(connections, less_than_a_tenth_is_no_reason) {
  EXPECT_EQ(connections_that_pay(
                std::vector<stream_rates>{{1, {1, 1, 1, 1}}, {2, {1.09, 1.09, 1.09, 1.09}}}),
            1);
  EXPECT_EQ(connections_that_pay(
                std::vector<stream_rates>{{1, {1, 1, 1, 1}}, {2, {1.11, 1.11, 1.11, 1.11}}}),
            2);
}

TEST(connections, a_gain_within_the_spread_is_no_reason) {
  const rates one{0.6, 0.7, 1.0, 1.5, 1.6};
  const rates two{0.8, 0.9, 1.3, 1.6, 1.9};
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, two}}), 1);
}

TEST(connections, one_spoiled_round_decides_nothing) {
  const rates one{1, 1, 1, 1, 3};
  const rates two{0.1, 2, 2, 2, 2};
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, two}}), 2);
}

TEST(connections, what_makes_no_sense_was_not_measured) {
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  const rates one{1, 1, 1, 1};
  const rates four{4, 4, 4, 4};
  EXPECT_EQ(connections_that_pay({}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{4, four}}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, {}}, {4, four}}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {4, {4, 4, 4}}}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {2, {0, 0, 0, 0}}, {4, four}}),
            4);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {4, {nan, 4, 4, 4}}}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {99, four}}), 1);
  EXPECT_EQ(connections_that_pay(std::vector<stream_rates>{{1, one}, {-2, four}}), 1);
}

TEST(connections, both_directions_count_together) {
  const std::vector<stream_rates> better{{1, {1, 1, 1, 1}}, {2, {2, 2, 2, 2}}};
  const std::vector<stream_rates> equal{{1, {1, 1, 1, 1}}, {2, {1, 1, 1, 1}}};
  const std::vector<stream_rates> worse{{1, {2, 2, 2, 2}}, {2, {1, 1, 1, 1}}};
  EXPECT_EQ(connections_that_pay(there_and_back(better, better)), 2);
  EXPECT_EQ(connections_that_pay(there_and_back(better, equal)), 2);
  EXPECT_EQ(connections_that_pay(there_and_back(equal, better)), 2);
  EXPECT_EQ(connections_that_pay(there_and_back(better, worse)), 1);
  EXPECT_EQ(connections_that_pay(there_and_back(better, {})), 1);
  EXPECT_DOUBLE_EQ(there_and_back(better, worse)[0].usual(), 4.0 / 3);
}

/// Rounds from one and the same noisy rail: more of it must hardly ever look better.
TEST(connections, noise_alone_is_rarely_taken_for_a_gain) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  const auto rounds = [&] {
    rates all(7);
    std::ranges::generate(all, [&] { return std::exp(noise(random)); });
    return all;
  };
  int wrong = 0;
  constexpr int trials = 4000;
  for (int i = 0; i < trials; ++i)
    wrong += connections_that_pay(std::vector<stream_rates>{{1, rounds()}, {2, rounds()}}) != 1;
  EXPECT_LT(wrong, trials / 50);
}

}  // namespace
}  // namespace headway::sampling
