#include <gtest/gtest.h>

#include <cstdlib>

#include "traffic.hpp"

namespace headway::packets::testing::cut_off_tests {
namespace {

TEST(cut_off, fails_the_peer_when_no_rail_comes_back_in_time) {
  simulation::job world({.rails = 2, .cut_off_ns = 300'000'000});
  traffic there(world, 0, 1, 5);
  there.add(100);
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  for (std::uint32_t rail = 0; rail < 2; ++rail) {
    world.net().mute(rail, 0, 1);
    world.net().cut(rail, 0, 1);
  }
  there.add(100'000);
  there.add(10);
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  EXPECT_EQ(there.all[1].send.arrived.how, messages::outcome::peer_lost);
  EXPECT_EQ(there.all[1].receive.arrived.how, messages::outcome::peer_lost);
}

}  // namespace
}  // namespace headway::packets::testing::cut_off_tests
