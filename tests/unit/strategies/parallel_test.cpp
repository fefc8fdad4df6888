#include "packets/strategies/parallel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unit/strategies/situations.hpp"

namespace headway::packets::strategies {
namespace {

using enum rail_state::condition;

std::vector<piece> parts_of(const rails_of_a_peer& rails, std::uint64_t bytes, const helpers& who,
                            std::uint32_t rail = 0) {
  std::vector<piece> pieces(rails.states.size());
  pieces.resize(parallel().cut(bytes, rail, rails.states, who, pieces));
  return pieces;
}

rails_of_a_peer idle_ones(int count) {
  rails_of_a_peer rails;
  for (int i = 0; i < count; ++i) {
    rails.add(idle);
    rails.measured(5'000, 1);
  }
  return rails;
}

TEST(parallel, a_packet_is_cut_when_the_gain_is_larger_than_waking_a_core) {
  const auto rails = idle_ones(2);
  const auto parts = parts_of(rails, 60'000, {.idle = 1, .wake_ns = 6'000});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rail, 0u);
  EXPECT_NEAR(static_cast<double>(parts[0].bytes), 33'000, 2);
  EXPECT_EQ(parts[0].bytes + parts[1].bytes, 60'000u);
  EXPECT_EQ(parts[1].offset, parts[0].bytes);
}

TEST(parallel, a_packet_is_whole_when_waking_costs_what_cutting_gains) {
  const auto rails = idle_ones(2);
  EXPECT_TRUE(parts_of(rails, 60'000, {.idle = 1, .wake_ns = 30'001}).empty());
  EXPECT_TRUE(parts_of(rails, 10'000, {.idle = 1, .wake_ns = 6'000}).empty());
}

TEST(parallel, nobody_idle_or_a_rail_that_nobody_measured_means_whole) {
  auto rails = idle_ones(2);
  EXPECT_TRUE(parts_of(rails, 60'000, {.idle = 0, .wake_ns = 0}).empty());
  rails.states[1].profile = nullptr;
  EXPECT_TRUE(parts_of(rails, 60'000, {.idle = 1, .wake_ns = 0}).empty());
}

TEST(parallel, busy_and_lost_rails_get_no_part) {
  auto rails = idle_ones(4);
  rails.states[0].now = down;
  rails.states[1].now = busy;
  const auto parts = parts_of(rails, 60'000, {.idle = 3, .wake_ns = 3'000}, 3);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rail, 3u);
  EXPECT_EQ(parts[1].rail, 2u);
}

TEST(parallel, there_are_no_more_parts_than_idle_processors_and_the_sender) {
  const auto rails = idle_ones(4);
  EXPECT_EQ(parts_of(rails, 60'000, {.idle = 1, .wake_ns = 3'000}).size(), 2u);
  EXPECT_EQ(parts_of(rails, 60'000, {.idle = 2, .wake_ns = 3'000}).size(), 3u);
  EXPECT_EQ(parts_of(rails, 60'000, {.idle = 9, .wake_ns = 3'000}).size(), 4u);
}

TEST(parallel, no_other_strategy_cuts_packets) {
  const auto rails = idle_ones(4);
  for (const auto& known : known_strategies()) {
    std::array<piece, rails_per_peer_max> pieces;
    const auto count = known.how->cut(60'000, 0, rails.states, {.idle = 3, .wake_ns = 0}, pieces);
    EXPECT_EQ(count > 1, known.name == "parallel") << known.name;
  }
}

}  // namespace
}  // namespace headway::packets::strategies
