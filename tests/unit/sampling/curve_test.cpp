#include "sampling/curve.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/sampling/curves.hpp"

namespace headway::sampling {
namespace {

using samples = std::array<double, curve::sample_count>;

TEST(curve, interpolates_linearly_between_neighbouring_samples) {
  samples ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) ns[i] = 1000 + static_cast<double>(i) * 100;
  const auto c = curve::from_samples(ns);
  ASSERT_TRUE(c);
  EXPECT_DOUBLE_EQ(c->ns_for(1024), 2000);
  EXPECT_DOUBLE_EQ(c->ns_for(1536), 2050);
  EXPECT_DOUBLE_EQ(c->ns_for(2048), 2100);
}

TEST(curve, beyond_the_last_sample_the_last_line_goes_on) {
  const auto c = curve::straight(1000, 2);
  EXPECT_NEAR(c.ns_for(std::uint64_t{1} << 30), 1000 + double(1 << 30) / 2, 1);
  EXPECT_NEAR(c.rate(), 2, 1e-9);
}

TEST(curve, nothing_takes_no_time_and_a_byte_the_latency) {
  const auto c = curve::straight(1234, 1);
  EXPECT_EQ(c.ns_for(0), 0);
  EXPECT_DOUBLE_EQ(c.ns_for(1), 1234);
  EXPECT_DOUBLE_EQ(c.latency_ns(), 1234);
}

TEST(curve, a_gap_is_filled_by_the_line_between_its_neighbours) {
  samples ns{};
  ns[10] = 2024;
  ns[12] = 5096;
  const auto c = curve::from_samples(ns);
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->sample_ns(11), 3048, 1e-6);
  EXPECT_NEAR(c->sample_ns(3), 2024, 1e-2);
  EXPECT_NEAR(c->sample_ns(13), 9192, 1e-6);
}

TEST(curve, samples_that_make_no_sense_count_as_not_measured) {
  samples ns{};
  EXPECT_FALSE(curve::from_samples(ns));
  ns.fill(std::numeric_limits<double>::quiet_NaN());
  ns[2] = -7;
  ns[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(curve::from_samples(ns));
  EXPECT_FALSE(curve::from_samples({}));
}

TEST(curve, a_size_that_seems_quicker_than_a_smaller_one_shares_its_mean) {
  samples ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) ns[i] = 1000 * double(i + 1);
  ns[20] = 23000;
  ns[21] = 21000;
  const auto c = curve::from_samples(ns);
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->sample_ns(20), 22000, 1e-3);
  EXPECT_NEAR(c->sample_ns(21), 22000, 10);
}

TEST(curve, every_curve_rises_and_size_and_time_determine_each_other) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const auto c = any_curve(random);
    for (std::size_t i = 1; i < curve::sample_count; ++i)
      ASSERT_GT(c.sample_ns(i), c.sample_ns(i - 1));
    const auto bytes = std::uint64_t{1} + random() % (std::uint64_t{1} << (random() % 34));
    const double ns = c.ns_for(bytes);
    ASSERT_TRUE(std::isfinite(ns) && ns > 0);
    // A double has about 16 digits: on a plateau that is some bytes.
    const double slack = 1e-9 * static_cast<double>(bytes) + ns * 1e-14 * 1e6;
    ASSERT_NEAR(c.bytes_in(ns), static_cast<double>(bytes), slack + 1e-3) << "round " << round;
  }
}

TEST(curve, learns_what_transfers_take) {
  auto c = curve::straight(10'000, 1);
  const auto truth = curve::straight(20'000, 0.1);
  for (int i = 0; i < 60; ++i)
    for (const std::uint64_t bytes : {1u << 16, 1u << 18, 1u << 20, 3u << 20})
      c.learn(bytes, truth.ns_for(bytes), 0.25);
  for (const std::uint64_t bytes : {1u << 16, 1u << 18, 1u << 20})
    EXPECT_NEAR(c.ns_for(bytes) / truth.ns_for(bytes), 1, 0.1) << bytes;
}

TEST(curve, one_odd_transfer_moves_it_by_a_bounded_step) {
  auto c = curve::straight(10'000, 1);
  const double before = c.ns_for(1 << 20);
  c.learn(1 << 20, 1e12, 0.25);
  EXPECT_LE(c.ns_for(1 << 20), before * 1.76);
  c.learn(1 << 20, std::numeric_limits<double>::quiet_NaN(), 0.25);
  c.learn(0, 5, 0.25);
  EXPECT_LE(c.ns_for(1 << 20), before * 1.76);
}

TEST(curve, learning_from_anything_keeps_it_rising) {
  std::mt19937_64 random(5);
  auto c = any_curve(random);
  for (int round = 0; round < 5000; ++round) {
    const double ns = std::exp(std::uniform_real_distribution(-20.0, 40.0)(random));
    c.learn(std::uint64_t{1} << (random() % 40), ns, 0.5);
    for (std::size_t i = 1; i < curve::sample_count; ++i)
      ASSERT_GT(c.sample_ns(i), c.sample_ns(i - 1));
  }
}

}  // namespace
}  // namespace headway::sampling
