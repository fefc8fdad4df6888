// A strategy from a shared object is used; one that cannot be loaded is reported in one line.
#include "packets/strategies/loaded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "packets/strategy.hpp"
#include "tests/unit/strategies/situations.hpp"

namespace headway::packets {
namespace {

std::string object(const std::string& name) { return HEADWAY_TEST_OBJECTS "/" + name + ".so"; }

void expect_refused(const std::string& path, const std::string& why) {
  const auto made = load_strategy(path);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text.find(path), std::string::npos) << made.error().text;
  EXPECT_NE(made.error().text.find(why), std::string::npos) << made.error().text;
  EXPECT_EQ(std::ranges::count(made.error().text, '\n'), 0);
}

TEST(loaded_strategy, decides_by_what_was_measured) {
  const auto made = load_strategy(object("strongest"));
  ASSERT_TRUE(made) << made.error().text;
  rails_of_a_peer rails;
  using enum rail_state::condition;
  rails.add(idle, 10'000);
  rails.measured(10'000, 0.5);
  rails.add(busy, 10'000);
  rails.measured(20'000, 5);
  waiting_packets waiting;
  waiting.add(100);
  waiting.add(200);
  const frame_room room{.packets_max = 4, .bytes_max = 4096};
  EXPECT_EQ((*made)->choose(waiting.all(), 0, rails.states, room), 0u)
      << "it waits for the strongest";
  rails.states[1].now = idle;
  EXPECT_EQ((*made)->choose(waiting.all(), 1, rails.states, room), 1u);
  std::array<piece, 2> pieces;
  ASSERT_EQ((*made)->split({.offset = 7, .bytes = 1 << 20}, rails.states, pieces), 1u);
  EXPECT_EQ(pieces[0].rail, 1u);
  EXPECT_EQ(pieces[0].offset, 7u);
  EXPECT_EQ(pieces[0].bytes, std::uint64_t{1} << 20);
  EXPECT_TRUE((*made)->collects());
}

TEST(loaded_strategy, is_loaded_once_and_bears_its_path) {
  const auto path = object("strongest");
  EXPECT_EQ(*load_strategy(path), *load_strategy(path));
  EXPECT_EQ(name_of(**load_strategy(path)), path);
  EXPECT_EQ(name_of(*find_strategy("fifo")), "fifo");
}

TEST(loaded_strategy, is_replaced_where_its_pieces_break_the_rules) {
  const auto made = load_strategy(object("breaks_rules"));
  ASSERT_TRUE(made) << made.error().text;
  rails_of_a_peer rails;
  rails.add(rail_state::condition::idle, 10'000);
  rails.add(rail_state::condition::down, 10'000);
  std::array<piece, 2> pieces;
  ASSERT_EQ((*made)->split({.offset = 0, .bytes = 100'000}, rails.states, pieces), 1u);
  EXPECT_EQ(pieces[0].rail, 0u);
  EXPECT_EQ(pieces[0].bytes, 100'000u);
}

TEST(loaded_strategy, of_another_version_is_refused) {
  expect_refused(object("of_version_99"), "it is of version 99 of the interface, this Headway has");
}
TEST(loaded_strategy, without_the_function_is_refused) {
  expect_refused(object("without_function"), "it does not export headway_strategy_get");
}
TEST(loaded_strategy, that_refuses_is_not_used) { expect_refused(object("refuses"), "it refuses"); }
TEST(loaded_strategy, that_is_not_there_is_refused) {
  expect_refused("/nowhere/strategy.so", "cannot open shared object file");
}

}  // namespace
}  // namespace headway::packets
