// A round goes from the leaf to the root, and how often it reaches the root does not grow with the
// machine (mechanism 3): on hwloc's synthetic machines, from one core to 8 packages of 64 cores.

#include "progress/core/queue_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress::testing::queue_tree_tests {
namespace {

struct idle_task : ltask {
  idle_task() : ltask("idle", &run) {}
  static ltask_result run(ltask&) noexcept { return ltask_result::idle; }
};

struct machine_case {
  const char* description;
  std::size_t leaves;
  std::size_t places;
};

std::vector<topology::place_id> leaves_of(const topology::machine& machine) {
  std::vector<topology::place_id> leaves;
  for (const auto& p : machine.places())
    if (p.children == 0) leaves.push_back(p.id);
  return leaves;
}

struct imagined_tree {
  explicit imagined_tree(const std::string& description) {
    auto made = topology::machine::imagine(description);
    if (!made) throw std::runtime_error(made.error().text);
    machine = std::move(*made);
    queues = std::make_unique<queue_tree>(*machine);
    leaves = leaves_of(*machine);
  }
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<queue_tree> queues;
  std::vector<topology::place_id> leaves;
};

class rounds : public ::testing::TestWithParam<machine_case> {};

TEST_P(rounds, of_the_background_touch_the_root_as_often_as_one_leaf) {
  constexpr std::uint64_t each = 512;
  imagined_tree t(GetParam().description);
  ASSERT_EQ(t.leaves.size(), GetParam().leaves);
  ASSERT_EQ(t.machine->places().size(), GetParam().places);
  idle_task at_root;  // rounds of an empty queue are not counted
  t.queues->root().submit(at_root);
  thread_record me;
  for (std::uint64_t i = 0; i < each; ++i)
    for (const auto leaf : t.leaves)
      static_cast<void>(t.queues->climb_from(leaf, me, round_kind::background));
  const auto touches = t.queues->root().count().background_rounds;
  EXPECT_GE(touches, each);
  // The first climb of a place takes place at once, so each has one more than its share.
  EXPECT_LE(touches, each + each / 8);
  thread_record owner;
  EXPECT_TRUE(t.queues->root().take_back(owner, at_root));
}

TEST_P(rounds, of_a_thread_that_polls_alone_touch_the_root_each_time) {
  imagined_tree t(GetParam().description);
  idle_task at_root;
  t.queues->root().submit(at_root);
  thread_record me;
  for (int i = 0; i < 100; ++i)
    static_cast<void>(t.queues->climb_from(t.leaves.back(), me, round_kind::explicit_));
  EXPECT_EQ(t.queues->root().count().explicit_rounds, 100u);
  EXPECT_TRUE(t.queues->root().take_back(me, at_root));
}

/// While it runs, the root's mask is held: the moment at which the rounds of others find it taken.
struct holding_task : ltask {
  explicit holding_task(imagined_tree& t) : ltask("holding", &run), tree(t) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<holding_task&>(self);
    thread_record other;
    for (std::uint64_t i = 0; i < rounds_while_held; ++i)
      for (const auto leaf : me.tree.leaves)
        static_cast<void>(me.tree.queues->climb_from(leaf, other, round_kind::explicit_));
    return ltask_result::idle;
  }
  static constexpr std::uint64_t rounds_while_held = 64;
  imagined_tree& tree;
};

TEST_P(rounds, that_wait_together_keep_off_a_taken_root) {
  imagined_tree t(GetParam().description);
  holding_task holder(t);
  t.queues->root().submit(holder);
  thread_record me;
  static_cast<void>(t.queues->root().visit(me, round_kind::explicit_));
  const auto touches = t.queues->root().count().skips;
  // Explicit rounds hold back below queues that they met taken only, that is below the root; a
  // machine whose root has n children is touched by its leaves together as by n'th of them.
  const auto fan = static_cast<std::uint64_t>(std::max(1, t.machine->places()[0].children));
  const auto all = holding_task::rounds_while_held * t.leaves.size();
  EXPECT_GE(touches, all / fan);
  EXPECT_LE(touches, all / fan + t.leaves.size());
  EXPECT_TRUE(t.queues->root().take_back(me, holder));
}

// A poller for each of eight imagined packages. They run on this machine's processors, so most of
// the 512 cores have none, and are visited by sweeps alone.
TEST(idle_pollers, leave_the_root_to_one_round_in_as_many_as_there_are_cores_and_few_sweeps) {
  constexpr std::uint64_t cores = 512, pollers = 8, enough = 4'096;
  running e({.points = polling::off,
             .idle_level = topology::level::package,
             .idle_ns = 0,
             .idle_calm_ns = 0},
            "package:8 core:64 pu:1");
  std::vector<std::unique_ptr<idle_task>> tasks;
  for (std::size_t place = 0; place < e->queues().size(); ++place) {
    tasks.push_back(std::make_unique<idle_task>());
    e->submit_at(static_cast<topology::place_id>(place), *tasks.back());
  }
  ASSERT_EQ(tasks.size(), 1 + pollers + cores);
  e->pending_started();
  e->points().turn(polling_point::idle, true);
  std::uint64_t root = 0, sweeps = 0, rounds = 0;
  EXPECT_TRUE(eventually([&] {
    const auto all = e->queues();
    root = all[0].background_rounds;
    sweeps = UINT64_MAX;
    std::uint64_t visits = 0;
    for (std::size_t place = 1; place < all.size(); ++place)
      sweeps = std::min(sweeps, all[place].background_rounds);
    for (const auto leaf : leaves_of(*e.machine))
      visits += all[static_cast<std::size_t>(leaf)].background_rounds;
    rounds = visits - sweeps * (cores - 1);
    return rounds >= enough;
  }));
  e->points().turn(polling_point::idle, false);
  e->pending_ended();
  EXPECT_LE(sweeps, rounds / (16 * pollers) + pollers);
  EXPECT_LE(root, sweeps + 2 * rounds / cores + 2 * pollers);
  for (auto& one : tasks) e->cancel(*one);
}

std::string name_of(const ::testing::TestParamInfo<machine_case>& one) {
  std::string name;
  for (const char c : std::string(one.param.description))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(imagined, rounds,
                         ::testing::Values(machine_case{"core:1 pu:1", 1, 1},
                                           machine_case{"core:1 pu:2", 1, 1},
                                           machine_case{"core:2 pu:1", 2, 3},
                                           machine_case{"core:3 pu:2", 3, 4},
                                           machine_case{"package:2 core:1 pu:1", 2, 3},
                                           machine_case{"package:2 l3:2 core:4 pu:2", 16, 23},
                                           machine_case{"package:2 l3:8 core:8 pu:2", 128, 147},
                                           machine_case{"package:8 core:64 pu:1", 512, 521},
                                           machine_case{"package:8 l3:8 core:8 pu:2", 512, 585}),
                         name_of);

}  // namespace
}  // namespace headway::progress::testing::queue_tree_tests
