#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "collectives/schedule_run.hpp"
#include "harness.hpp"

namespace headway::collectives::test::schedule_tests {
namespace {

reduction sum_of(const std::int64_t& mine, std::int64_t& all) {
  using datatypes::number;
  return {.send = &mine,
          .receive = &all,
          .count = 1,
          .type = &datatypes::layout::of(number::int64),
          .op = predefined(collectives::operation::sum, number::int64).value()};
}

TEST(schedule, releases_no_rank_from_a_barrier_before_all_have_come) {
  for (const auto steps :
       {+[](schedule& s, const team& t) { barrier_dissemination(s, t); },
        +[](schedule& s, const team& t) { barrier_tree(s, t, tree::flat); },
        +[](schedule& s, const team& t) { barrier_tree(s, t, tree::chain); },
        +[](schedule& s, const team& t) { barrier_tree(s, t, tree::binomial); }}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      for (int late = 0; late < ranks; ++late) {
        model_world world(ranks, static_cast<std::uint64_t>(late) + 1);
        std::vector<schedule_ptr> all;
        world.everyone([&](int rank, team& t) {
          all.push_back(new_schedule());
          steps(*all.back(), t);
          all.back()->bind(t);
          if (rank != late) all.back()->start();
        });
        world.settle();
        for (int i = 0; i < ranks; ++i) ASSERT_FALSE(all[static_cast<std::size_t>(i)]->test());
        all[static_cast<std::size_t>(late)]->start();
        world.settle();
        for (auto& s : all) ASSERT_TRUE(s->test());
      }
    }
  }
}

TEST(schedule, of_one_rank_ends_in_its_start) {
  model_world world(1, 1);
  std::int64_t mine = 42, all = 0;
  operation op;
  op.start(world, [&](schedule& s, team& t) { allreduce(s, t, sum_of(mine, all)); });
  EXPECT_TRUE(op.ended_well());
  EXPECT_EQ(all, 42);
}

TEST(schedule, copies_results_of_any_length) {
  constexpr std::size_t long_bytes = 4 * 1024 * 1024, around = 100;
  std::vector<std::byte> from(long_bytes + 2 * around), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(1 + i % 251);
  for (const auto bytes : {std::size_t{1}, long_bytes - 1, long_bytes, long_bytes + 65}) {
    std::ranges::fill(to, std::byte{0});
    model_world world(1, 1);
    operation op;
    op.start(world, [&](schedule& s, team&) {
      s.copy_result(from.data() + 1, to.data() + 3, static_cast<std::int64_t>(bytes));
    });
    ASSERT_TRUE(op.ended_well());
    ASSERT_EQ(std::memcmp(to.data() + 3, from.data() + 1, bytes), 0) << bytes;
    EXPECT_EQ(std::ranges::count(to, std::byte{0}), static_cast<std::ptrdiff_t>(to.size() - bytes));
  }
}

TEST(schedule, may_be_started_again_when_it_is_complete) {
  model_world world(5, 9);
  std::vector<std::int64_t> mine(5), all(5);
  std::vector<schedule_ptr> schedules;
  world.everyone([&](int rank, team& t) {
    const auto i = static_cast<std::size_t>(rank);
    schedules.push_back(new_schedule());
    schedules.back()->set_persistent();
    allreduce(*schedules.back(), t, sum_of(mine[i], all[i]));
    schedules.back()->bind(t);
  });
  for (std::int64_t round = 1; round < 20; ++round) {
    for (std::size_t i = 0; i < 5; ++i) mine[i] = round * static_cast<std::int64_t>(i + 1);
    for (auto& s : schedules) s->start();
    world.settle();
    for (std::size_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(schedules[i]->test());
      ASSERT_EQ(all[i], 15 * round);
    }
  }
}

TEST(schedule, that_is_refused_ends_the_operation_on_all_ranks_with_an_error) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (int refused = 0; refused < ranks; ++refused) {
      model_world world(ranks, static_cast<std::uint64_t>(refused) + 1);
      std::vector<std::int64_t> mine(9, 1), all(9);
      operation op;
      op.start(world, [&](schedule& s, team& t) {
        const auto i = static_cast<std::size_t>(t.rank);
        allreduce(s, t, sum_of(mine[i], all[i]));
        if (t.rank == refused) s.refuse();
      });
      world.settle();
      for (int i = 0; i < ranks; ++i) {
        ASSERT_TRUE(op.of(i).test());
        ASSERT_NE(op.of(i).how(), messages::outcome::ok);
      }
    }
  }
}

TEST(schedule, costs_two_messages_per_rank_where_ranks_outnumber_processors) {
  model_world world(8, 1);
  std::vector<std::int64_t> mine(8, 1), all(8);
  operation op;
  op.start(world, [&](schedule& s, team& t) {
    team oversubscribed(t.via, t.rank, t.size, true);
    const auto i = static_cast<std::size_t>(t.rank);
    allreduce(s, oversubscribed, sum_of(mine[i], all[i]));
  });
  world.settle();
  EXPECT_TRUE(op.ended_well());
  EXPECT_EQ(world.messages_sent(), 14);
  EXPECT_EQ(all[5], 8);
}

}  // namespace
}  // namespace headway::collectives::test::schedule_tests
