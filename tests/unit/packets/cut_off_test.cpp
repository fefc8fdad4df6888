#include <gtest/gtest.h>

#include <cstdlib>

#include "cables.hpp"
#include "traffic.hpp"

namespace headway::packets::testing {
namespace {

/// Tunables are read once: what gives up soon is a program of its own.
const bool environment_set = setenv("HEADWAY_CUT_OFF_MS", "300", 1) == 0;

TEST(cut_off, fails_the_peer_when_no_rail_comes_back_in_time) {
  ASSERT_TRUE(environment_set);
  processes world(2, 2, 1);
  traffic there(world, 0, 1, 5);
  there.add(100);
  ASSERT_TRUE(world.poll_until([&] { return there.done(); }));
  for (std::uint32_t rail = 0; rail < 2; ++rail) {
    world.net.mute(rail, 0, 1);
    world.net.cut(rail, 0, 1);
  }
  there.add(100'000);
  there.add(10);
  ASSERT_TRUE(world.poll_until([&] { return there.done(); }));
  EXPECT_EQ(there.all[1].send.arrived.how, messages::outcome::peer_lost);
  EXPECT_EQ(there.all[1].receive.arrived.how, messages::outcome::peer_lost);
}

}  // namespace
}  // namespace headway::packets::testing
