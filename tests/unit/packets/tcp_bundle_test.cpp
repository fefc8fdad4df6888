// Goal:   over real connections that are cut and fall silent on a seed, every message arrives once,
//         whole and in order.
// Method: two processes in one, three TCP rails on loopback between them, each wrapped by the
//         faulty driver at both ends.
#include <gtest/gtest.h>

#include <cstdlib>

#include "rails/tcp/wire.hpp"
#include "tcp_world.hpp"

namespace headway::packets::testing::tcp_bundle_tests {
namespace {

class tcp_bundle : public ::testing::TestWithParam<std::uint32_t> {
 protected:
};

TEST_P(tcp_bundle, brings_everything_over_sound_rails) {
  world w({.seed = GetParam()});
  ASSERT_FALSE(rendezvous::preposts_for(w.all[0].peers->at(1)));  // several rails reach it
  exchange_messages(w, GetParam(), 40);
  EXPECT_EQ(w.all[0].peers->counts().rail_losses.load(), 0u);
}

TEST_P(tcp_bundle, brings_everything_though_connections_are_cut) {
  world w({.seed = GetParam(), .retry_one_in = 7, .late_one_in = 9, .cut_one_in = 40});
  exchange_messages(w, GetParam(), 80);
  EXPECT_GT(w.all[0].peers->counts().rail_losses.load(), 0u);
  EXPECT_GT(w.all[0].peers->counts().rail_returns.load(), 0u);
}

TEST_P(tcp_bundle, brings_everything_though_rails_fall_silent) {
  world w({.seed = GetParam(), .mute_one_in = 300});
  exchange_messages(w, GetParam(), 80);
}

// A process that leaves announces it on every rail: no rail is made again, and no wait lasts for
// it.
TEST_P(tcp_bundle, counts_a_peer_that_has_closed_its_rails_as_lost) {
  world w({.seed = GetParam()});
  exchange_messages(w, GetParam(), 20);
  auto& gone = w.all[1];
  gone.messages->close_context(std::exchange(gone.context, nullptr));
  gone.messages.reset();
  gone.peers.reset();
  const std::vector<std::byte> sent(rails::tcp::eager_bytes_max + 1);  // it waits for a cts
  messages::request send;
  w.all[0].messages->send(*w.all[0].context, send, sent, 1, 7);
  ASSERT_TRUE(w.all[0].engine->wait_until(send, base::machine_now_ns() + patience_ns / 2));
  EXPECT_EQ(send.arrived.how, messages::outcome::peer_lost);
}

INSTANTIATE_TEST_SUITE_P(seeds, tcp_bundle, ::testing::Range(1u, 3u));

}  // namespace
}  // namespace headway::packets::testing::tcp_bundle_tests
