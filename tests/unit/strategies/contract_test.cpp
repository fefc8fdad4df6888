// Every built-in strategy keeps every rule of strategy.hpp. A test per sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <string>

#include "packets/strategy.hpp"
#include "tests/unit/strategies/situations.hpp"

namespace headway::packets {
namespace {

constexpr int rounds = 2000;

std::vector<named_strategy> all_strategies() {
  const auto known = known_strategies();
  std::vector<named_strategy> all(known.begin(), known.end());
  all.push_back({.name = "example", .how = *load_strategy(HEADWAY_TEST_OBJECTS "/strongest.so")});
  return all;
}

class strategies : public testing::TestWithParam<named_strategy> {
 protected:
  const strategy& how() const { return *GetParam().how; }
  std::mt19937_64 random{11};
};

TEST_P(strategies, split_covers_what_is_left_without_gaps_in_order_once_per_rail_that_is_not_down) {
  for (int round = 0; round < rounds; ++round) {
    const auto rails = rails_of_a_peer::any(random);
    const remainder what{.offset = random() % 1000,
                         .bytes = 1 + random() % (std::uint64_t{1} << (random() % 36))};
    std::array<piece, rails_per_peer_max> pieces;
    const auto count =
        how().split(what, rails.states, std::span(pieces).first(rails.states.size()));
    ASSERT_GE(count, 1u);
    ASSERT_LE(count, rails.states.size());
    std::set<std::uint32_t> used;
    auto at = what.offset;
    for (const auto& p : std::span(pieces).first(count)) {
      ASSERT_EQ(p.offset, at);
      ASSERT_GT(p.bytes, 0u);
      ASSERT_LT(p.rail, rails.states.size());
      ASSERT_NE(rails.states[p.rail].now, rail_state::condition::down);
      ASSERT_TRUE(used.insert(p.rail).second) << "one piece for each rail";
      at += p.bytes;
    }
    ASSERT_EQ(at, what.offset + what.bytes);
  }
}

TEST_P(strategies, choose_fills_a_frame_within_its_room) {
  for (int round = 0; round < rounds; ++round) {
    auto rails = rails_of_a_peer::any(random);
    const auto rail = static_cast<std::uint32_t>(random() % rails.states.size());
    rails.states[rail].now = rail_state::condition::idle;
    waiting_packets waiting;
    const auto packets = 1 + random() % 20;
    for (std::size_t i = 0; i < packets; ++i) waiting.add(random() % 5000);
    const frame_room room{.packets_max = 1 + random() % 16, .bytes_max = random() % 20'000};
    const auto count = how().choose(waiting.all(), rail, rails.states, room);
    ASSERT_LE(count, std::min(room.packets_max, packets));
    if (count == 0) {
      ASSERT_TRUE(std::ranges::any_of(rails.states, [](const rail_state& r) {
        return r.now == rail_state::condition::busy;
      })) << "nobody would ask again";
      continue;
    }
    std::size_t bytes = 0;
    for (const auto& item : waiting.items | std::views::take(count))
      bytes += item.head_bytes + item.payload.size();
    ASSERT_TRUE(count == 1 || bytes <= room.bytes_max);
  }
}

TEST_P(strategies, nothing_waits_when_no_rail_is_busy) {
  for (int round = 0; round < rounds; ++round) {
    auto rails = rails_of_a_peer::any(random);
    for (auto& r : rails.states)
      if (r.now == rail_state::condition::busy) r.now = rail_state::condition::idle;
    const auto idle =
        std::ranges::find(rails.states, rail_state::condition::idle, &rail_state::now);
    waiting_packets waiting;
    waiting.add(random() % 50'000);
    ASSERT_EQ(how().choose(waiting.all(), static_cast<std::uint32_t>(idle - rails.states.begin()),
                           rails.states, {.packets_max = 4, .bytes_max = 65536}),
              1u);
  }
}

INSTANTIATE_TEST_SUITE_P(all, strategies, testing::ValuesIn(all_strategies()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(known_strategies, are_found_by_name_and_others_are_not) {
  for (const auto& s : known_strategies()) EXPECT_EQ(find_strategy(s.name), s.how);
  EXPECT_EQ(find_strategy("best"), nullptr);
  EXPECT_EQ(find_strategy(""), nullptr);
}

}  // namespace
}  // namespace headway::packets
