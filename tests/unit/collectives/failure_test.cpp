// Goal:   when a rank dies in the middle, every other rank's operation ends, and a rank that has a
//         result without an error has the right one.
// Method: each algorithm, several sizes; the death comes after every possible number of events.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test::failure_tests {
namespace {

using datatypes::layout;
using datatypes::number;

constexpr std::int64_t words_each = 3;
/// Longer than the smaller banks, and long enough to be lent.
constexpr std::int64_t long_words = 2100;

struct buffers {
  std::vector<std::int64_t> send, receive;
  std::array<int, 2> sides;  // of a ring
  edge_ends edges;
};

struct scenario {
  const char* name;
  void (*build)(schedule& s, team& t, buffers& b);

  /// Of each rank: with two levels the first half is on one node, the rest on another one.
  [[nodiscard]] std::vector<int> nodes(int ranks) const {
    std::vector<int> made;
    if (std::string_view(name).find("two levels") == std::string_view::npos) return made;
    for (int rank = 0; rank < ranks; ++rank) made.push_back(rank * 2 / ranks);
    return made;
  }
};

reduction sum_of(buffers& b, const team& t, std::int64_t count) {
  for (std::size_t i = 0; i < b.send.size(); ++i) b.send[i] = t.rank + 1;
  return {.send = b.send.data(),
          .receive = b.receive.data(),
          .count = count,
          .type = &layout::of(number::int64),
          .op = predefined(collectives::operation::sum, number::int64).value()};
}

block mine_of(buffers& b) { return {b.send.data(), words_each, &layout::of(number::int64)}; }
blocks all_of(std::vector<std::int64_t>& v) {
  return {.data = v.data(), .type = &layout::of(number::int64), .count = words_each};
}

/// The neighbours on a ring, whose exchanges are in shared memory.
neighborhood ring_of(team& t, buffers& b) {
  b.sides = {(t.rank + t.size - 1) % t.size, (t.rank + 1) % t.size};
  b.edges = {{.block = 1, .blocks = 2}, {.block = 0, .blocks = 2}};
  t.memory.edges = &b.edges;
  return {.sources = b.sides, .destinations = b.sides, .opposite_pairs = true};
}

const scenario scenarios[] = {
    {"barrier", [](schedule& s, team& t, buffers&) { barrier_dissemination(s, t); }},
    {"barrier, flat", [](schedule& s, team& t, buffers&) { barrier_tree(s, t, tree::flat); }},
    {"bcast",
     [](schedule& s, team& t, buffers& b) { bcast_tree(s, t, mine_of(b), 0, tree::binomial); }},
    {"bcast, pipeline",
     [](schedule& s, team& t, buffers& b) { bcast_pipeline(s, t, mine_of(b), 0, 8); }},
    {"bcast, parts",
     [](schedule& s, team& t, buffers& b) { bcast_scatter_ring(s, t, mine_of(b), 0); }},
    {"reduce", [](schedule& s, team& t,
                  buffers& b) { reduce_tree(s, t, sum_of(b, t, 3), 0, tree::binomial); }},
    {"allreduce",
     [](schedule& s, team& t, buffers& b) { allreduce_doubling(s, t, sum_of(b, t, 3)); }},
    {"allreduce, halving",
     [](schedule& s, team& t, buffers& b) { allreduce_halving(s, t, sum_of(b, t, 10)); }},
    {"allreduce, ring",
     [](schedule& s, team& t, buffers& b) { allreduce_ring(s, t, sum_of(b, t, 10)); }},
    {"allreduce, shared",
     [](schedule& s, team& t, buffers& b) { allreduce_shared(s, t, sum_of(b, t, 10)); }},
    {"allreduce, shared long",
     [](schedule& s, team& t, buffers& b) { allreduce_shared(s, t, sum_of(b, t, long_words)); }},
    {"allreduce, shared parts",
     [](schedule& s, team& t, buffers& b) {
       allreduce_shared_parts(s, t, sum_of(b, t, long_words));
     }},
    {"barrier, shared", [](schedule& s, team& t, buffers&) { barrier_shared(s, t); }},
    {"bcast, shared",
     [](schedule& s, team& t, buffers& b) {
       bcast_shared(s, t, {b.send.data(), long_words, &layout::of(number::int64)}, 0);
     }},
    {"alltoall, shared",
     [](schedule& s, team& t, buffers& b) {
       const auto from = all_of(b.send);
       alltoall_shared(s, t, &from, all_of(b.receive));
     }},
    {"alltoall, shared, in place",
     [](schedule& s, team& t, buffers& b) { alltoallv_shared(s, t, nullptr, all_of(b.receive)); }},
    {"neighbor alltoall, shared",
     [](schedule& s, team& t, buffers& b) {
       neighbor_alltoall_shared(s, t, ring_of(t, b), all_of(b.send), all_of(b.receive));
     }},
    {"neighbor alltoall, shared long",
     [](schedule& s, team& t, buffers& b) {
       const std::int64_t counts[] = {long_words, 1}, due[] = {1, long_words}, places[] = {0, 1};
       blocks from = all_of(b.send), to = all_of(b.receive);
       from.counts = counts;
       to.counts = due;
       from.places = to.places = places;
       neighbor_alltoallv_shared(s, t, ring_of(t, b), from, to);
     }},
    {"neighbor allgather, shared",
     [](schedule& s, team& t, buffers& b) {
       neighbor_allgather_shared(s, t, ring_of(t, b), mine_of(b), all_of(b.receive));
     }},
    {"allreduce, flat",
     [](schedule& s, team& t, buffers& b) { allreduce_tree(s, t, sum_of(b, t, 3), tree::flat); }},
    {"gather",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       gather_binomial(s, t, &mine, all_of(b.receive), 0);
     }},
    {"scatter",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       scatter_binomial(s, t, all_of(b.receive), &mine, 0);
     }},
    {"allgather, ring",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       allgather_ring(s, t, &mine, all_of(b.receive));
     }},
    {"allgather, bruck",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       allgather_bruck(s, t, &mine, all_of(b.receive));
     }},
    {"alltoall",
     [](schedule& s, team& t, buffers& b) {
       const auto from = all_of(b.send);
       alltoall_linear(s, t, &from, all_of(b.receive));
     }},
    {"alltoall, pairwise",
     [](schedule& s, team& t, buffers& b) {
       const auto from = all_of(b.send);
       alltoall_pairwise(s, t, &from, all_of(b.receive));
     }},
    {"scan", [](schedule& s, team& t, buffers& b) { scan_doubling(s, t, sum_of(b, t, 3), false); }},
    {"barrier, two levels", [](schedule& s, team& t, buffers&) { barrier_two_levels(s, t); }},
    {"bcast, two levels",
     [](schedule& s, team& t, buffers& b) {
       bcast_two_levels(s, t, {b.send.data(), long_words, &layout::of(number::int64)}, t.size - 1);
     }},
    {"reduce, two levels",
     [](schedule& s, team& t, buffers& b) { reduce_two_levels(s, t, sum_of(b, t, 3), 1); }},
    {"allreduce, two levels",
     [](schedule& s, team& t, buffers& b) { allreduce_two_levels(s, t, sum_of(b, t, 3)); }},
    {"allreduce, two levels long",
     [](schedule& s, team& t, buffers& b) {
       allreduce_two_levels(s, t, sum_of(b, t, long_words));
     }},
    {"gather, two levels",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       gather_two_levels(s, t, &mine, all_of(b.receive), 0);
     }},
    {"scatter, two levels",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       scatter_two_levels(s, t, all_of(b.receive), &mine, 0);
     }},
    {"allgather, two levels",
     [](schedule& s, team& t, buffers& b) {
       const auto mine = mine_of(b);
       allgather_two_levels(s, t, &mine, all_of(b.receive));
     }},
    {"scan, two levels",
     [](schedule& s, team& t, buffers& b) { scan_two_levels(s, t, sum_of(b, t, 3), false); }},
};

const scenario& named(std::string_view name) {
  return *std::ranges::find(scenarios, name, &scenario::name);
}

/// The ranks of a world with a buffer each, for one scenario.
struct stage {
  /// `told`: a rank that is told of different calls before the next one begins.
  stage(const scenario& what, int ranks, std::uint64_t seed, int shielded = -1, int told = -1)
      : world(ranks, seed, what.nodes(ranks)) {
    world.shield(shielded);
    const auto length = static_cast<std::size_t>(ranks * words_each + long_words);
    world.everyone([&](int rank, team& t) {
      data.push_back(std::make_unique<buffers>());
      data.back()->send.assign(length, 0);
      data.back()->receive.assign(length, 0);
      schedules.push_back(new_schedule());
      what.build(*schedules.back(), t, *data.back());
      schedules.back()->bind(t);
      schedules.back()->start();
      if (rank != told) return;
      tell(rank);
      world.settle();
    });
  }
  void tell(int rank) { static_cast<void>(world.ranks(rank).log.break_with({})); }
  ~stage() {  // a dead rank's schedules have not ended, and may not go back to the cache
    for (auto& s : schedules) {
      if (!s->test()) delete s.release();
    }
  }
  model_world world;
  std::vector<std::unique_ptr<buffers>> data;
  std::vector<schedule_ptr> schedules;
};

TEST(failure, of_a_rank_ends_the_operation_on_all_others) {
  for (const auto& what : scenarios) {
    for (const int ranks : {2, 3, 5, 8}) {
      for (int after = 0; after < 40; after += 3) {
        const int victim = after % ranks;
        SCOPED_TRACE(::testing::Message() << what.name << ", " << ranks << " ranks, rank " << victim
                                          << " dies after " << after);
        stage s(what, ranks, static_cast<std::uint64_t>(after) + 1);
        s.world.settle(after);
        s.world.kill(victim);
        s.world.settle();
        for (int i = 0; i < ranks; ++i) {
          const bool ended = s.schedules[static_cast<std::size_t>(i)]->test();
          ASSERT_TRUE(ended || i == victim);
        }
        ASSERT_EQ(s.world.pending(), 0);
      }
    }
  }
}

/// A rank that is told of different calls ends. The others are told by themselves, and must not
/// learn from it that something has failed, because they would not know what.
TEST(failure, of_the_calls_is_shown_to_no_rank_that_is_not_told_of_it) {
  for (const auto& what : scenarios) {
    if (std::string_view(what.name).find("shared") == std::string_view::npos) continue;
    for (const int ranks : {2, 3, 5}) {
      for (int told = 0; told < ranks; ++told) {
        SCOPED_TRACE(::testing::Message() << what.name << ", " << ranks << " ranks, " << told);
        stage s(what, ranks, static_cast<std::uint64_t>(told) + 1, -1, told);
        s.world.settle();
        for (int i = 0; i < ranks; ++i) {
          const auto& its = *s.schedules[static_cast<std::size_t>(i)];
          ASSERT_TRUE(i == told ? its.test() : !its.test() || its.how() == messages::outcome::ok);
        }
        for (int i = 0; i < ranks; ++i) s.tell(i);
        s.world.settle();
        ASSERT_EQ(s.world.pending(), 0);
      }
    }
  }
}

TEST(failure, never_leaves_a_wrong_sum_without_an_error) {
  for (const int ranks : {2, 3, 5, 6, 8}) {
    for (int after = 0; after < 60; ++after) {
      for (const auto& what : scenarios) {
        if (std::string_view(what.name).substr(0, 9) != "allreduce") continue;
        SCOPED_TRACE(::testing::Message() << what.name << ", " << ranks << " ranks, " << after);
        stage s(what, ranks, static_cast<std::uint64_t>(after) * 31 + 7);
        s.world.settle(after);
        s.world.kill(after % ranks);
        s.world.settle();
        for (int i = 0; i < ranks; ++i) {
          const auto n = static_cast<std::size_t>(i);
          if (i == after % ranks || s.schedules[n]->how() != messages::outcome::ok) continue;
          ASSERT_EQ(s.data[n]->receive[0], ranks * (ranks + 1) / 2) << "on rank " << i;
        }
      }
    }
  }
}

/// Its ranks lend their buffers to each other.
void shield_a_rank(int ranks) {
  for (std::uint64_t seed = 1;; ++seed) {
    stage s(named("bcast, shared"), ranks, seed, 0);
    s.world.settle();
    if (!s.world.ranks(0).memory.lends) continue;
    for (std::size_t i = 0; i < s.schedules.size(); ++i) {
      EXPECT_TRUE(s.schedules[i]->test());
      EXPECT_EQ(s.schedules[i]->how(), i == 0 ? messages::outcome::ok : messages::outcome::failed);
    }
    return;
  }
}

TEST(failure, to_read_a_lent_buffer_is_an_error_of_its_readers) {
  for (const int ranks : {2, 3, 5}) shield_a_rank(ranks);
}

TEST(failure, of_all_but_two_leaves_no_barrier_open) {
  model_world world(6, 3);
  operation op;
  op.start(world, [](schedule& s, team& t) { barrier_dissemination(s, t); });
  for (const int victim : {1, 2, 4, 5}) world.kill(victim);
  world.settle();
  for (const int rank : {0, 3}) {
    EXPECT_TRUE(op.of(rank).test());
    EXPECT_NE(op.of(rank).how(), messages::outcome::ok);
    EXPECT_NE(op.of(rank).failed_rank(), -1);
  }
}

}  // namespace
}  // namespace headway::collectives::test::failure_tests
