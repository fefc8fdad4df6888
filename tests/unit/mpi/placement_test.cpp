// Goal:   ranks are placed near their neighbours, and never worse than in the given order.
// Method: random graphs, grids and machines. Small ones are compared with the best of all orders.
#include "mpi/topologies/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace headway::mpi;

namespace {

using dice = std::mt19937;
using order = std::vector<int>;

int draw(dice& d, int low, int high) { return std::uniform_int_distribution<int>(low, high)(d); }

order identity(int size) {
  order made(static_cast<std::size_t>(size));
  std::iota(made.begin(), made.end(), 0);
  return made;
}

/// Process i runs on node i modulo `nodes`, as with a launcher that places ranks cyclically.
std::vector<location> dealt_out(int size, int nodes) {
  std::vector<location> where;
  for (int i = 0; i < size; ++i) where.push_back({.node = i % nodes});
  return where;
}

std::vector<location> random_locations(dice& d, int size) {
  const int nodes = draw(d, 1, 4), packages = draw(d, 1, 2), caches = draw(d, 1, 2);
  std::vector<location> where;
  for (int i = 0; i < size; ++i) {
    const int package = draw(d, 0, packages - 1);
    where.push_back({.node = draw(d, 0, nodes - 1),
                     .package = package,
                     .cache = package * caches + draw(d, 0, caches - 1)});
  }
  return where;
}

traffic random_traffic(dice& d, int size) {
  std::vector<weighted_edge> edges;
  for (int e = draw(d, 0, 3 * size); e > 0; --e)
    edges.push_back({draw(d, 0, size - 1), draw(d, 0, size - 1), draw(d, 0, 9)});
  return traffic_of(size, edges);
}

/// A permutation of the first processes that costs no more than their own order.
void expect_sound(const traffic& t, std::span<const location> where, const order& placed) {
  order sorted = placed;
  std::ranges::sort(sorted);
  ASSERT_EQ(sorted, identity(t.size()));
  EXPECT_LE(cost(t, where, placed), cost(t, where, identity(t.size())));
}

std::int64_t least_cost(const traffic& t, std::span<const location> where) {
  order each = identity(t.size());
  auto least = cost(t, where, each);
  while (std::ranges::next_permutation(each).found) least = std::min(least, cost(t, where, each));
  return least;
}

TEST(placement, random_graphs_get_an_order_that_costs_no_more_than_their_own) {
  dice d(1);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    const auto t = random_traffic(d, draw(d, 1, 40));
    const auto where = random_locations(d, t.size() + draw(d, 0, 3));
    expect_sound(t, where, place(t, where));
  }
}

TEST(placement, random_grids_get_an_order_that_costs_no_more_than_their_own) {
  dice d(2);
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    grid g;
    for (int dimensions = draw(d, 0, 3); dimensions > 0; --dimensions) {
      g.sizes.push_back(draw(d, 1, 4));
      g.periodic.push_back(static_cast<char>(draw(d, 0, 1)));
    }
    const auto t = traffic_of(g);
    const auto where = random_locations(d, t.size());
    expect_sound(t, where, place(g, t, where));
  }
}

TEST(placement, small_graphs_cost_little_more_than_the_best_of_all_orders) {
  dice d(3);
  std::int64_t placed = 0, best = 0, given = 0;
  for (int i = 0; i < 150; ++i) {
    const auto t = random_traffic(d, draw(d, 2, 7));
    const auto where = random_locations(d, t.size());
    const auto found = cost(t, where, place(t, where));
    const auto least = least_cost(t, where);
    ASSERT_GE(found, least);
    placed += found;
    best += least;
    given += cost(t, where, identity(t.size()));
  }
  EXPECT_LE((placed - best) * 4, given - best) << "less than three quarters of what can be gained";
}

TEST(placement, a_grid_whose_processes_are_dealt_out_gets_blocks_on_its_nodes) {
  const grid g{.sizes = {8, 8}, .periodic = {0, 0}};
  const auto t = traffic_of(g);
  const auto where = dealt_out(64, 4);
  const auto placed = place(g, t, where);
  EXPECT_EQ(cost(t, where, placed), 16 * 100);  // two cuts of eight edges: four blocks of 4 x 4
  EXPECT_GT(cost(t, where, identity(64)), 16 * 100);
}

TEST(placement, three_nodes_of_a_ring_get_three_arcs) {
  const grid g{.sizes = {12}, .periodic = {1}};
  const auto t = traffic_of(g);
  const auto where = dealt_out(12, 3);
  EXPECT_EQ(cost(t, where, place(g, t, where)), 3 * 100);
  EXPECT_EQ(cost(t, where, place(t, where)), 3 * 100);
}

TEST(placement, heavy_edges_stay_on_a_node_and_light_ones_cross) {
  const std::vector<weighted_edge> edges = {{0, 1, 9}, {2, 3, 9}, {0, 2, 1}, {1, 3, 1}};
  const auto t = traffic_of(4, edges);
  const auto where = dealt_out(4, 2);
  EXPECT_EQ(cost(t, where, place(t, where)), 2 * 100);
}

TEST(placement, packages_matter_inside_a_node_and_caches_inside_a_package) {
  const grid g{.sizes = {8}, .periodic = {0}};
  const auto t = traffic_of(g);
  std::vector<location> where;
  for (int i = 0; i < 8; ++i) where.push_back({.node = 0, .package = i % 2, .cache = i % 4});
  EXPECT_EQ(cost(t, where, place(g, t, where)), 10 + 2);
}

TEST(placement, nothing_changes_where_the_places_say_nothing_or_the_order_is_best) {
  const grid g{.sizes = {4, 4}, .periodic = {0, 0}};
  const auto t = traffic_of(g);
  EXPECT_EQ(place(g, t, std::vector<location>(16)), identity(16));
  EXPECT_EQ(place(t, std::vector<location>(16)), identity(16));
  std::vector<location> in_blocks;
  for (int i = 0; i < 16; ++i) in_blocks.push_back({.node = i / 8});
  EXPECT_EQ(place(g, t, in_blocks), identity(16));
}

TEST(placement, processes_beyond_the_grid_are_left_out) {
  const grid g{.sizes = {2, 2}, .periodic = {0, 0}};
  const auto t = traffic_of(g);
  const auto where = dealt_out(7, 2);
  expect_sound(t, where, place(g, t, where));
}

TEST(placement, an_empty_graph_and_one_without_edges_keep_their_order) {
  EXPECT_TRUE(place(traffic_of(0, {}), {}).empty());
  EXPECT_EQ(place(traffic_of(3, {}), dealt_out(3, 3)), identity(3));
}

TEST(placement, grids_and_graphs_of_thousands_of_ranks_are_placed) {
  const grid g{.sizes = {16, 16, 16}, .periodic = {1, 1, 1}};
  const auto t = traffic_of(g);
  const auto where = dealt_out(t.size(), 64);
  expect_sound(t, where, place(g, t, where));
  dice d(4);
  const auto random = random_traffic(d, 3000);
  expect_sound(random, where, place(random, where));
}

}  // namespace
