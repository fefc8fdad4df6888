// Goal:   neighbourhood collectives bring each block along its edge, for any graph and any order of
//         arrival; mismatched blocks are errors, not lost memory.
// Method: random directed graphs with duplicate edges and edges of a rank to itself, on a
//         world that delivers messages in random order; each block identifies its edge.
#include "collectives/neighbors.hpp"

#include <gtest/gtest.h>

#include <random>

#include "harness.hpp"

namespace headway::collectives::test {
namespace {

using datatypes::layout;
using datatypes::number;
using vector64 = std::vector<std::int64_t>;
using dice = std::mt19937_64;

const layout& int64s() { return layout::of(number::int64); }

struct rank_data {
  std::vector<int> sources, destinations;
  vector64 sent, received, expected;

  [[nodiscard]] neighborhood neighbors() const {
    return {.sources = sources, .destinations = destinations};
  }
};

blocks row(vector64& data, std::int64_t count) {
  return {.data = data.data(), .type = &int64s(), .count = count};
}

/// Random edges; in both lists of a pair the edges between the two are in the same order.
std::vector<rank_data> random_graph(dice& d, int ranks, std::int64_t count, bool same_for_all) {
  std::vector<rank_data> all(static_cast<std::size_t>(ranks));
  const auto draw = [&] { return static_cast<int>(d() % static_cast<unsigned>(ranks)); };
  for (auto edge = static_cast<std::int64_t>(d() % 40); edge > 0; --edge) {
    const int from = draw(), to = draw();
    auto& source = all[static_cast<std::size_t>(from)];
    auto& target = all[static_cast<std::size_t>(to)];
    source.destinations.push_back(to);
    target.sources.push_back(from);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = (same_for_all ? from : edge) * 1000 + i;
      source.sent.push_back(value);
      target.expected.push_back(value);
    }
  }
  for (auto& each : all) each.received.resize(each.expected.size());
  return all;
}

TEST(neighbors, alltoall_brings_every_block_along_its_edge) {
  dice d(1);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const int ranks = 1 + static_cast<int>(d() % 6);
    const auto count = static_cast<std::int64_t>(d() % 4);
    auto all = random_graph(d, ranks, count, false);
    model_world world(ranks, seed);
    perform(world, [&](schedule& s, team& t) {
      auto& mine = all[static_cast<std::size_t>(t.rank)];
      neighbor_alltoall(s, mine.neighbors(), row(mine.sent, count), row(mine.received, count));
    });
    for (const auto& each : all) ASSERT_EQ(each.received, each.expected);
  }
}

TEST(neighbors, allgather_brings_one_block_along_all_edges) {
  dice d(2);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const int ranks = 1 + static_cast<int>(d() % 6);
    const auto count = static_cast<std::int64_t>(d() % 4);
    auto all = random_graph(d, ranks, count, true);
    model_world world(ranks, seed);
    perform(world, [&](schedule& s, team& t) {
      auto& mine = all[static_cast<std::size_t>(t.rank)];
      neighbor_allgather(s, mine.neighbors(),
                         {mine.sent.data(), mine.sent.empty() ? 0 : count, &int64s()},
                         row(mine.received, count));
    });
    for (const auto& each : all) ASSERT_EQ(each.received, each.expected);
  }
}

TEST(neighbors, a_ring_of_one_or_two_ranks_keeps_its_directions_apart) {
  for (int ranks = 1; ranks <= 3; ++ranks) {
    SCOPED_TRACE(ranks);
    std::vector<std::array<int, 2>> neighbors;
    std::vector<vector64> sent, received;
    for (int r = 0; r < ranks; ++r) {
      neighbors.push_back({(r + ranks - 1) % ranks, (r + 1) % ranks});
      sent.push_back({r * 10, r * 10 + 1});
      received.push_back({-1, -1});
    }
    model_world world(ranks, 7);
    perform(world, [&](schedule& s, team& t) {
      const auto r = static_cast<std::size_t>(t.rank);
      neighbor_alltoall(
          s, {.sources = neighbors[r], .destinations = neighbors[r], .opposite_pairs = true},
          row(sent[r], 1), row(received[r], 1));
    });
    for (int r = 0; r < ranks; ++r) {
      const auto& n = neighbors[static_cast<std::size_t>(r)];
      const vector64 expected = {n[0] * 10 + 1, n[1] * 10};
      EXPECT_EQ(received[static_cast<std::size_t>(r)], expected);
    }
  }
}

TEST(neighbors, blocks_without_a_neighbour_are_not_touched) {
  const std::array<int, 2> nobody = {-1, -1};
  vector64 sent = {1, 2}, received = {3, 4};
  model_world world(1, 1);
  perform(world, [&](schedule& s, team&) {
    neighbor_alltoall(s, {.sources = nobody, .destinations = nobody, .opposite_pairs = true},
                      row(sent, 1), row(received, 1));
  });
  EXPECT_EQ(received, (vector64{3, 4}));
}

TEST(neighbors, a_longer_block_than_is_expected_is_an_error_where_it_arrives) {
  const std::array<int, 1> other[2] = {{1}, {0}};
  vector64 sent[2] = {{1, 2}, {3, 4}}, received[2] = {{0, 9}, {0, 0}};
  model_world world(2, 1);
  operation op;
  op.start(world, [&](schedule& s, team& t) {
    const auto r = static_cast<std::size_t>(t.rank);
    const neighborhood n{.sources = other[r], .destinations = other[r]};
    neighbor_alltoall(s, n, row(sent[r], 2), row(received[r], r == 0 ? 1 : 2));
  });
  world.settle();
  EXPECT_EQ(op.of(0).how(), messages::outcome::truncated);
  EXPECT_EQ(op.of(1).how(), messages::outcome::ok);
  EXPECT_EQ(received[0][1], 9);
}

}  // namespace
}  // namespace headway::collectives::test
