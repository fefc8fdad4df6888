// Goal:   neighbourhood collectives bring each block along its edge, for any graph and any order of
//         arrival; mismatched blocks are errors, not lost memory.
// Method: random directed graphs with duplicate edges and edges of a rank to itself, on a
//         world that delivers messages in random order, by messages and by exchanges in shared
//         memory; each block identifies its edge. Some ranks have no edges.
#include "collectives/neighbors.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "harness.hpp"

namespace headway::collectives::test::neighbors_tests {
namespace {

using datatypes::layout;
using datatypes::number;
using vector64 = std::vector<std::int64_t>;
using dice = std::mt19937_64;

const layout& int64s() { return layout::of(number::int64); }

struct rank_data {
  std::vector<int> sources, destinations;
  vector64 sent, received, expected;
  vector64 sent_counts, due_counts;  // of blocks of different lengths
  edge_ends edges;

  [[nodiscard]] neighborhood neighbors() const {
    return {.sources = sources, .destinations = destinations};
  }
};

blocks row(vector64& data, std::int64_t count) {
  return {.data = data.data(), .type = &int64s(), .count = count};
}

/// What the test is about: how many elements an edge carries.
using length_of_edge = std::function<std::int64_t(std::int64_t edge)>;

/// Random edges; in both lists of a pair the edges between the two are in the same order.
std::vector<rank_data> random_graph(dice& d, int ranks, const length_of_edge& length,
                                    bool same_for_all) {
  std::vector<rank_data> all(static_cast<std::size_t>(ranks));
  const auto connected = 1 + d() % static_cast<unsigned>(ranks);  // the others have no edges
  const auto draw = [&] { return static_cast<int>(d() % connected); };
  for (auto edge = static_cast<std::int64_t>(d() % 40); edge > 0; --edge) {
    const int from = draw(), to = draw();
    auto& source = all[static_cast<std::size_t>(from)];
    auto& target = all[static_cast<std::size_t>(to)];
    source.destinations.push_back(to);
    target.sources.push_back(from);
    const auto count = length(edge);
    source.sent_counts.push_back(count);
    target.due_counts.push_back(count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = (same_for_all ? from : edge) * 100000 + i;
      source.sent.push_back(value);
      target.expected.push_back(value);
    }
  }
  for (auto& each : all) each.received.resize(each.expected.size());
  return all;
}

/// As node_memory tells the ranks of a node: from now on they use exchanges.
void tell_edges(model_world& world, std::vector<rank_data>& all) {
  world.everyone([&](int rank, team& t) {
    auto& mine = all[static_cast<std::size_t>(rank)];
    auto found = match_edges(mine.neighbors(), rank, t.size, [&](int source) {
      return std::span<const int>(all[static_cast<std::size_t>(source)].destinations);
    });
    ASSERT_TRUE(found.has_value());
    mine.edges = *found;
    t.memory.edges = &mine.edges;
  });
}

void check_received(const std::vector<rank_data>& all) {
  for (const auto& each : all) ASSERT_EQ(each.received, each.expected);
}

/// Ranks that know their edges send no messages.
void check_way(const model_world& world, const team& any) {
  if (any.memory.edges != nullptr) {
    EXPECT_EQ(world.messages_sent(), 0);
  }
}

/// Lengths of all blocks: none, few, longer than the smaller banks, long enough to be lent.
constexpr std::int64_t lengths[] = {0, 1, 3, 20, 100, 2100};

/// Calls `check(random, world, ranks, length)` for many graphs, by messages and by exchanges.
template <class Check>
void for_many_worlds(const Check& check) {
  dice d(1);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const int ranks = 1 + static_cast<int>(d() % 6);
    model_world world(ranks, seed);
    check(d, world, ranks, lengths[d() % std::size(lengths)]);
  }
}

TEST(neighbors, alltoall_brings_every_block_along_its_edge) {
  for_many_worlds([](dice& d, model_world& world, int ranks, std::int64_t count) {
    auto all = random_graph(d, ranks, [&](std::int64_t) { return count; }, false);
    if (d() % 2 == 0) tell_edges(world, all);
    perform(world, [&](schedule& s, team& t) {
      auto& mine = all[static_cast<std::size_t>(t.rank)];
      neighbor_alltoall(s, t, mine.neighbors(), row(mine.sent, count), row(mine.received, count));
    });
    check_received(all);
    check_way(world, world.ranks(0));
  });
}

/// Where blocks of these lengths begin that lie one behind the other.
vector64 places_of(const vector64& counts) {
  vector64 places;
  std::int64_t next = 0;
  for (const auto count : counts) {
    places.push_back(next);
    next += count;
  }
  return places;
}

TEST(neighbors, alltoall_brings_blocks_of_different_lengths_along_their_edges) {
  for_many_worlds([](dice& d, model_world& world, int ranks, std::int64_t) {
    const auto of_edge = [](std::int64_t edge) {
      return lengths[static_cast<std::size_t>(edge) % std::size(lengths)];
    };
    auto all = random_graph(d, ranks, of_edge, false);
    if (d() % 2 == 0) tell_edges(world, all);
    perform(world, [&](schedule& s, team& t) {
      auto& mine = all[static_cast<std::size_t>(t.rank)];
      const auto sent_places = places_of(mine.sent_counts), due_places = places_of(mine.due_counts);
      blocks from = row(mine.sent, 0), to = row(mine.received, 0);
      from.counts = mine.sent_counts.data();
      from.places = sent_places.data();
      to.counts = mine.due_counts.data();
      to.places = due_places.data();
      neighbor_alltoallv(s, t, mine.neighbors(), from, to);
    });
    check_received(all);
    check_way(world, world.ranks(0));
  });
}

TEST(neighbors, allgather_brings_one_block_along_all_edges) {
  for_many_worlds([](dice& d, model_world& world, int ranks, std::int64_t count) {
    auto all = random_graph(d, ranks, [&](std::int64_t) { return count; }, true);
    if (d() % 2 == 0) tell_edges(world, all);
    perform(world, [&](schedule& s, team& t) {
      auto& mine = all[static_cast<std::size_t>(t.rank)];
      neighbor_allgather(s, t, mine.neighbors(),
                         {mine.sent.data(), mine.sent.empty() ? 0 : count, &int64s()},
                         row(mine.received, count));
    });
    check_received(all);
    check_way(world, world.ranks(0));
  });
}

// Each rank begins all of its operations before the next rank begins any. Its streams take turns in
// its lines and its bank, which are written again when its readers, and no others, have finished.
TEST(neighbors, a_rank_that_is_several_operations_ahead_overwrites_nothing) {
  constexpr int operations = 7;
  for_many_worlds([](dice& d, model_world& world, int ranks, std::int64_t count) {
    std::vector<rank_data> graph =
        random_graph(d, ranks, [&](std::int64_t) { return count; }, false);
    tell_edges(world, graph);
    std::vector<std::vector<rank_data>> each(operations, graph);
    std::vector<schedule_ptr> steps;
    world.everyone([&](int rank, team& t) {
      for (int o = 0; o < operations; ++o) {
        auto& mine = each[static_cast<std::size_t>(o)][static_cast<std::size_t>(rank)];
        for (auto& value : mine.sent) value += o;
        for (auto& value : mine.expected) value += o;
        steps.push_back(new_schedule());
        neighbor_alltoall(*steps.back(), t, mine.neighbors(), row(mine.sent, count),
                          row(mine.received, count));
        steps.back()->bind(t);
        steps.back()->start();
      }
    });
    world.settle();
    for (const auto& s : steps) ASSERT_TRUE(s->test() && s->how() == messages::outcome::ok);
    for (const auto& o : each) check_received(o);
  });
}

// Ranks 0 and 1 are neighbours, rank 2 has none and never calls: they do not wait for it.
TEST(neighbors, do_not_wait_for_ranks_that_are_not_neighbours) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    model_world world(3, seed);
    std::vector<rank_data> all(3);
    for (const int r : {0, 1}) {
      auto& mine = all[static_cast<std::size_t>(r)];
      mine.sources = mine.destinations = {1 - r};
      mine.sent = {r};
      mine.received = {-1};
    }
    tell_edges(world, all);
    std::vector<schedule_ptr> steps;
    for (int call = 0; call < 5; ++call) {
      world.everyone([&](int rank, team& t) {
        if (rank == 2) return;
        auto& mine = all[static_cast<std::size_t>(rank)];
        steps.push_back(new_schedule());
        neighbor_alltoall(*steps.back(), t, mine.neighbors(), row(mine.sent, 1),
                          row(mine.received, 1));
        steps.back()->bind(t);
        steps.back()->start();
      });
      world.settle();
      for (const auto& s : steps) ASSERT_TRUE(s->test());
      EXPECT_EQ(all[0].received, vector64{1});
      EXPECT_EQ(all[1].received, vector64{0});
    }
  }
}

TEST(neighbors, lists_that_contradict_each_other_have_no_edge_ends) {
  const std::vector<int> to_0_once = {2, 0}, twice = {1, 1};
  const auto find = [&](const neighborhood& n) {
    return match_edges(n, 0, 3, [&](int) { return std::span<const int>(to_0_once); });
  };
  EXPECT_FALSE(find({.sources = twice, .destinations = {}}).has_value());
  const auto found = find({.sources = std::span(twice).first(1), .destinations = {}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at(0).block, 1);
  EXPECT_EQ(found->at(0).blocks, 2);
}

TEST(neighbors, a_ring_of_one_or_two_ranks_keeps_its_directions_apart) {
  for (int trial = 0; trial < 6; ++trial) {
    const int ranks = 1 + trial / 2;
    SCOPED_TRACE(trial);
    std::vector<std::array<int, 2>> neighbors;
    std::vector<vector64> sent, received;
    for (int r = 0; r < ranks; ++r) {
      neighbors.push_back({(r + ranks - 1) % ranks, (r + 1) % ranks});
      sent.push_back({r * 10, r * 10 + 1});
      received.push_back({-1, -1});
    }
    model_world world(ranks, 7);
    std::vector<edge_ends> edges(static_cast<std::size_t>(ranks));
    if (trial % 2 == 0) {  // by exchanges
      world.everyone([&](int rank, team& t) {
        const auto r = static_cast<std::size_t>(rank);
        const neighborhood n{
            .sources = neighbors[r], .destinations = neighbors[r], .opposite_pairs = true};
        edges[r] = match_edges(n, rank, ranks, [&](int source) {
                     return std::span<const int>(neighbors[static_cast<std::size_t>(source)]);
                   }).value();
        t.memory.edges = &edges[r];
      });
    }
    perform(world, [&](schedule& s, team& t) {
      const auto r = static_cast<std::size_t>(t.rank);
      neighbor_alltoall(
          s, t, {.sources = neighbors[r], .destinations = neighbors[r], .opposite_pairs = true},
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
  perform(world, [&](schedule& s, team& t) {
    neighbor_alltoall(s, t, {.sources = nobody, .destinations = nobody, .opposite_pairs = true},
                      row(sent, 1), row(received, 1));
  });
  EXPECT_EQ(received, (vector64{3, 4}));
}

TEST(neighbors, a_longer_block_than_is_expected_is_an_error_where_it_arrives) {
  const std::vector<int> other[2] = {{1}, {0}};
  for (const bool exchanged : {false, true}) {
    vector64 sent[2] = {{1, 2}, {3, 4}}, received[2] = {{0, 9}, {0, 0}};
    model_world world(2, 1);
    edge_ends edges = {{.block = 0, .blocks = 1}};
    operation op;
    op.start(world, [&](schedule& s, team& t) {
      const auto r = static_cast<std::size_t>(t.rank);
      if (exchanged) t.memory.edges = &edges;
      const neighborhood n{.sources = other[r], .destinations = other[r]};
      neighbor_alltoall(s, t, n, row(sent[r], 2), row(received[r], r == 0 ? 1 : 2));
    });
    world.settle();
    EXPECT_EQ(op.of(0).how(), messages::outcome::truncated);
    EXPECT_EQ(op.of(1).how(), messages::outcome::ok);
    EXPECT_EQ(received[0][1], 9);
  }
}

}  // namespace
}  // namespace headway::collectives::test::neighbors_tests
