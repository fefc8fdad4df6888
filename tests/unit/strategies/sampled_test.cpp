#include "packets/strategies/sampled.hpp"

#include <gtest/gtest.h>

#include <array>

#include "packets/strategies/equal.hpp"
#include "tests/unit/strategies/situations.hpp"

namespace headway::packets::strategies {
namespace {

using enum rail_state::condition;

std::vector<piece> pieces_of(const strategy& how, const rails_of_a_peer& rails,
                             std::uint64_t bytes) {
  std::vector<piece> pieces(rails.states.size());
  pieces.resize(how.split({.bytes = bytes}, rails.states, pieces));
  return pieces;
}

TEST(sampled, measured_rails_share_a_message_in_proportion_to_their_rates) {
  rails_of_a_peer rails;
  rails.add(idle);
  rails.measured(50'000, 0.125);
  rails.add(idle);
  rails.measured(50'000, 0.075);
  const auto pieces = pieces_of(sampled(), rails, 16'000'000);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_NEAR(static_cast<double>(pieces[0].bytes), 10e6, 1000);
}

TEST(sampled, a_small_message_takes_the_rail_that_is_quicker_for_its_size) {
  rails_of_a_peer rails;
  rails.add(idle);
  rails.measured(200'000, 10);
  rails.add(idle);
  rails.measured(10'000, 1);
  const auto pieces = pieces_of(sampled(), rails, 10'000);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].rail, 1u);
}

TEST(sampled, a_rail_busy_for_longer_than_the_others_need_gets_nothing) {
  rails_of_a_peer rails;
  rails.add(busy, 1000, 50'000'000);
  rails.measured(10'000, 1);
  rails.add(idle);
  rails.measured(10'000, 1);
  const auto pieces = pieces_of(sampled(), rails, 1'000'000);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].rail, 1u);
}

TEST(sampled, rails_that_nobody_measured_share_evenly) {
  rails_of_a_peer rails;
  rails.add(idle);
  rails.add(down);
  rails.add(idle);
  const auto pieces = pieces_of(sampled(), rails, 1'000'000);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_NEAR(static_cast<double>(pieces[0].bytes), 500'000, 2);
  EXPECT_EQ(pieces[1].rail, 2u);
}

TEST(sampled, a_packet_waits_for_the_busy_rail_that_would_still_be_quicker) {
  rails_of_a_peer rails;
  rails.add(busy, 1000, 1'000'000);
  rails.measured(10'000, 10);
  rails.add(idle);
  rails.measured(60'000'000'000, 1);  // a minute: as good as never
  waiting_packets waiting;
  waiting.add(100);
  const frame_room room{.packets_max = 4, .bytes_max = 4096};
  EXPECT_EQ(sampled().choose(waiting.all(), 1, rails.states, room), 0u);
  rails.states[0].busy_ns = 120'000'000'000;
  EXPECT_EQ(sampled().choose(waiting.all(), 1, rails.states, room), 1u);
}

TEST(sampled, packets_that_wait_leave_together_as_far_as_they_fit) {
  rails_of_a_peer rails;
  rails.add(idle);
  waiting_packets waiting;
  for (int i = 0; i < 4; ++i) waiting.add(1000);
  const auto leave = [&](std::size_t packets, std::size_t bytes) {
    return sampled().choose(waiting.all(), 0, rails.states,
                            {.packets_max = packets, .bytes_max = bytes});
  };
  EXPECT_EQ(leave(8, 65536), 4u);
  EXPECT_EQ(leave(3, 65536), 3u);
  EXPECT_EQ(leave(8, 2500), 2u);
  EXPECT_EQ(leave(8, 10), 1u) << "alone it needs no frame";
}

TEST(equal, every_rail_that_is_not_down_gets_the_same) {
  rails_of_a_peer rails;
  rails.add(idle);
  rails.measured(10, 100);
  rails.add(down);
  rails.add(busy, 10, 1'000'000'000);
  rails.add(idle);
  const auto pieces = pieces_of(equal(), rails, 1001);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].bytes, 334u);
  EXPECT_EQ(pieces[1].bytes, 334u);
  EXPECT_EQ(pieces[2].bytes, 333u);
}

}  // namespace
}  // namespace headway::packets::strategies
