// Goal:   ranks are grouped by their nodes, whatever the nodes' numbers are.
#include "collectives/node_levels.hpp"

#include <gtest/gtest.h>

#include "model_world.hpp"

namespace headway::collectives::test::node_levels_tests {
namespace {

std::vector<int> list(std::span<const int> of) { return {of.begin(), of.end()}; }

TEST(node_levels, number_the_nodes_in_the_order_of_their_first_ranks) {
  const std::vector<int> numbers = {9, 4, 9, 7, 4, 9};
  model_world world(6, 1, numbers);
  for (int rank = 0; rank < 6; ++rank) {
    node_levels& levels = *world.ranks(rank).memory.levels;
    EXPECT_EQ(levels.nodes(), 3);
    EXPECT_EQ(list(levels.ranks_on(0)), (std::vector{0, 2, 5}));
    EXPECT_EQ(list(levels.ranks_on(1)), (std::vector{1, 4}));
    EXPECT_EQ(list(levels.ranks_on(2)), std::vector{3});
    EXPECT_EQ(list(levels.ranks()), (std::vector{0, 2, 5, 1, 4, 3}));
    EXPECT_EQ(levels.own_node(), levels.node_of(rank));
    EXPECT_EQ(levels.local().bound_rank(levels.local().rank), rank);
    EXPECT_EQ(levels.local().rank, levels.place_of(rank));
    EXPECT_FALSE(levels.in_order() || levels.even());
    EXPECT_EQ(levels.fewest_ranks(), 1);
    EXPECT_EQ(levels.most_ranks(), 3);
  }
  EXPECT_EQ(world.ranks(4).memory.levels->place_of(4), 1);
}

TEST(node_levels, know_whether_ranks_are_in_order_and_nodes_even) {
  model_world one_behind_the_other(4, 1, {1, 1, 0, 0}), in_turns(4, 1, {0, 1, 0, 1});
  const node_levels& first = *one_behind_the_other.ranks(0).memory.levels;
  const node_levels& second = *in_turns.ranks(0).memory.levels;
  EXPECT_TRUE(first.in_order() && first.even());
  EXPECT_TRUE(!second.in_order() && second.even());
}

TEST(node_levels, divide_a_node_with_too_many_ranks_evenly) {
  EXPECT_EQ(divided(std::vector{5, 5, 2, 5, 5, 5}, 2), (std::vector{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(divided(std::vector{5, 5, 2, 5}, 3), (std::vector{0, 0, 1, 0}));
  const auto many = divided(std::vector<int>(130, 0), 64);
  for (int node = 0; node < 3; ++node) EXPECT_LE(std::ranges::count(many, node), 44);
  EXPECT_EQ(*std::ranges::max_element(many), 2);
}

}  // namespace
}  // namespace headway::collectives::test::node_levels_tests
