// Goal:   when a rank dies in the middle, every other rank's operation ends, and a rank that has a
//         result without an error has the right one.
// Method: each algorithm, several sizes; the death comes after every possible number of events.
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test {
namespace {

using datatypes::layout;
using datatypes::number;

constexpr std::int64_t words_each = 3;

struct buffers {
  std::vector<std::int64_t> send, receive;
};

struct scenario {
  const char* name;
  void (*build)(schedule& s, team& t, buffers& b);
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
    {"allreduce, ring",
     [](schedule& s, team& t, buffers& b) { allreduce_ring(s, t, sum_of(b, t, 10)); }},
    {"allreduce, direct",
     [](schedule& s, team& t, buffers& b) { allreduce_direct(s, t, sum_of(b, t, 10)); }},
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
};

const scenario& direct() {
  return *std::ranges::find(scenarios, std::string_view("allreduce, direct"), &scenario::name);
}

/// The ranks of a world with a buffer each, for one scenario.
struct stage {
  stage(const scenario& what, int ranks, std::uint64_t seed) : world(ranks, seed) {
    const auto length = static_cast<std::size_t>(ranks * words_each + 10);
    world.everyone([&](int, team& t) {
      data.push_back(std::make_unique<buffers>());
      data.back()->send.assign(length, 0);
      data.back()->receive.assign(length, 0);
      schedules.push_back(new_schedule());
      what.build(*schedules.back(), t, *data.back());
      schedules.back()->bind(t);
      schedules.back()->start();
    });
  }
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
        SCOPED_TRACE(testing::Message() << what.name << ", " << ranks << " ranks, rank " << victim
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

TEST(failure, never_leaves_a_wrong_sum_without_an_error) {
  for (const int ranks : {2, 3, 5, 6, 8}) {
    for (int after = 0; after < 60; ++after) {
      for (const auto& what : scenarios) {
        if (std::string_view(what.name).substr(0, 9) != "allreduce") continue;
        SCOPED_TRACE(testing::Message() << what.name << ", " << ranks << " ranks, " << after);
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

TEST(failure, leaves_no_rank_writing_into_buffers_of_one_that_has_returned) {
  for (const int ranks : {3, 5}) {
    for (int after = 0; after < 60; ++after) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << after);
      stage s(direct(), ranks, static_cast<std::uint64_t>(after) * 17 + 3);
      s.world.settle(after);
      s.world.kill(after % ranks);
      std::vector<bool> gone(static_cast<std::size_t>(ranks));
      for (int events = 0; events < 1000; ++events) {
        for (std::size_t i = 0; i < gone.size(); ++i) {
          if (gone[i] || !s.schedules[i]->test()) continue;
          gone[i] = true;
          std::ranges::fill(s.data[i]->receive,
                            -1);  // as the program may, once the call has returned
        }
        s.world.settle(1);
      }
      for (std::size_t i = 0; i < gone.size(); ++i)
        EXPECT_TRUE(!gone[i] ||
                    std::ranges::count(s.data[i]->receive, -1) == std::ssize(s.data[i]->receive));
    }
  }
}

TEST(failure, to_touch_a_rank_is_an_error_on_all) {
  for (const int ranks : {2, 3, 5}) {
    stage s(direct(), ranks, static_cast<std::uint64_t>(ranks));
    s.world.shield(1);
    s.world.settle();
    for (const auto& each : s.schedules) {
      EXPECT_TRUE(each->test());
      EXPECT_EQ(each->how(), messages::outcome::failed);
    }
  }
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
}  // namespace headway::collectives::test
