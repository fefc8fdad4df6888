#include "sampling/profile.hpp"

#include <gtest/gtest.h>

#include "sampling/threshold.hpp"
#include "tests/unit/sampling/curves.hpp"

namespace headway::sampling {
namespace {

TEST(profile, rendezvous_begins_where_its_control_packets_cost_less_than_the_copies) {
  const profile p{.piece = curve::straight(1000, 10), .eager = curve::straight(1000, 2)};
  // 2000 + 1000 + n/10 = 1000 + n/2  ->  n = 5000
  EXPECT_NEAR(static_cast<double>(p.rendezvous_bytes(1 << 20)), 5000, 3);
}

TEST(profile, rails_that_copy_for_nothing_use_packets_as_far_as_they_go) {
  const profile p{.piece = curve::straight(1000, 1), .eager = curve::straight(1000, 1)};
  EXPECT_EQ(p.rendezvous_bytes(65536), 65536u);
  EXPECT_EQ(p.rendezvous_bytes(0), 0u);
}

TEST(profile, the_threshold_never_exceeds_the_largest_packet) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 5000; ++round) {
    const profile p{.piece = any_curve(random), .eager = any_curve(random)};
    const std::uint64_t most = random() % (std::uint64_t{1} << (random() % 24 + 1));
    ASSERT_LE(p.rendezvous_bytes(most), most);
  }
}

TEST(profile, dividing_pays_where_two_rails_save_more_than_announcing_costs) {
  // 2 * 10 us + 10 us + n / 2 = 10 us + n  ->  n = 40 us at one byte a nanosecond
  const auto p = profile::guessed(10'000, 1);
  const std::array two{&p, &p};
  EXPECT_NEAR(static_cast<double>(dividing_pays_from(two, 1 << 20, 4096)), 40'000, 10);
  const std::array one{&p};
  EXPECT_EQ(dividing_pays_from(one, 65536, 4096), 65536u) << "one rail has nothing to divide";
  EXPECT_EQ(dividing_pays_from({}, 65536, 4096), 65536u);
}

TEST(profile, a_change_of_more_than_a_quarter_is_worth_a_file) {
  const auto p = profile::guessed(10'000, 1);
  EXPECT_FALSE(differ(p, profile::guessed(10'000, 1.1)));
  EXPECT_TRUE(differ(p, profile::guessed(10'000, 0.1)));
  EXPECT_TRUE(differ(p, profile::guessed(10'000, 2)));
}

}  // namespace
}  // namespace headway::sampling
