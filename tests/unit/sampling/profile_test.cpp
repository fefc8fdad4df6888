#include "sampling/profile.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headway::sampling
