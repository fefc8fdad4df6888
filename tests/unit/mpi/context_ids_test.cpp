#include "mpi/communicators/context_ids.hpp"

#include <gtest/gtest.h>

#include <array>

using namespace headway::mpi;
using namespace headway::messages;

namespace {

TEST(context_ids, gives_the_lowest_free_number_and_none_that_has_a_fixed_meaning) {
  context_ids table;
  for (std::uint32_t id = context_pair::first_free; id < 200; ++id)
    ASSERT_EQ(table.reserve_lowest(), id);
  table.give_back(70);
  table.give_back(5);
  EXPECT_EQ(table.reserve_lowest(), 5u);
  EXPECT_EQ(table.reserve_lowest(), 70u);
  EXPECT_EQ(table.reserve_lowest(), 200u);
  for (std::uint32_t id = 0; id < context_pair::first_free; ++id) EXPECT_FALSE(table.reserve(id));
}

TEST(context_ids, searches_from_a_given_word_on) {
  context_ids table;
  EXPECT_EQ(table.reserve_lowest(3), 3u * 64);
  EXPECT_EQ(table.reserve_lowest(3), 3u * 64 + 1);
}

TEST(context_ids, gives_each_number_once_until_it_is_given_back) {
  context_ids table;
  EXPECT_TRUE(table.reserve(77));
  EXPECT_FALSE(table.reserve(77));
  table.give_back(77);
  EXPECT_TRUE(table.reserve(77));
}

TEST(context_ids, keeps_the_fixed_ones_when_their_communicators_are_closed) {
  context_ids table;
  for (const auto id : {context_pair::world, context_pair::self, context_pair::job}) {
    table.give_back(id);
    EXPECT_FALSE(table.reserve(id));
  }
}

TEST(context_ids, has_as_many_as_messages_can_name) {
  context_ids table;
  std::uint32_t count = 0, last = 0;
  for (auto id = table.reserve_lowest(); id != context_id_none; id = table.reserve_lowest()) {
    ++count;
    last = id;
  }
  EXPECT_EQ(count, context_pair::count - context_pair::first_free);
  EXPECT_EQ(2 * last + 1, contexts_max - 1);
}

TEST(context_ids, shows_a_window_of_what_is_free) {
  context_ids table;
  std::array<std::uint64_t, 2> window{};
  EXPECT_TRUE(table.reserve(64));
  EXPECT_TRUE(table.reserve(191));
  table.copy_free(1, window);
  EXPECT_EQ(window[0], ~std::uint64_t{1});
  EXPECT_EQ(window[1], ~std::uint64_t{0} >> 1);
}

TEST(context_ids, refuses_a_number_that_is_given_back_twice) {
  context_ids table;
  EXPECT_DEATH(table.give_back(9), "free_");
}

}  // namespace
