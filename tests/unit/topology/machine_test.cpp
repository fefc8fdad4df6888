#include "topology/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace headway::topology {
namespace {

std::unique_ptr<machine> imagined(const std::string& description) {
  auto m = machine::imagine(description);
  EXPECT_TRUE(m) << m.error().text;
  return std::move(*m);
}

int leaves(const machine& m) {
  return static_cast<int>(std::ranges::count(m.places(), 0, &place::children));
}

/// The invariants of every tree that the engine can use.
void expect_sound(const machine& m) {
  const auto& places = m.places();
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places[0].parent, place_id::root);
  EXPECT_EQ(places[0].name, "machine");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& p = places[i];
    EXPECT_EQ(static_cast<std::size_t>(p.id), i);
    EXPECT_NE(p.children, 1) << p.name << ": a level without siblings";
    EXPECT_FALSE(p.processors.empty());
    EXPECT_TRUE(std::ranges::is_sorted(p.processors));
    if (i == 0) continue;
    EXPECT_LT(static_cast<std::size_t>(p.parent), i);
    EXPECT_TRUE(
        std::ranges::includes(places[static_cast<std::size_t>(p.parent)].processors, p.processors));
    if (p.children != 0) continue;
    for (const int processor : p.processors) EXPECT_EQ(m.leaf_of(processor), p.id);
  }
}

TEST(machine, of_this_computer_is_a_sound_tree) {
  auto m = machine::read();
  ASSERT_TRUE(m) << m.error().text;
  expect_sound(**m);
  EXPECT_FALSE((*m)->imagined());
  EXPECT_GE((*m)->usable_processors(), 1);
  EXPECT_GE((*m)->runnable_threads(), 1);
  const auto here = (*m)->here();
  EXPECT_EQ((*m)->places()[static_cast<std::size_t>(here)].children, 0);
}

// Only this thread: with a second one TSan starts a thread of its own, whose binding `read` would
// count as part of the process's.
TEST(machine, knows_a_thread_where_it_moved_to) {
  auto m = machine::read();
  ASSERT_TRUE(m) << m.error().text;
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (int round = 0; round < 3; ++round)
    for (const int processor : (*m)->places()[0].processors) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      EXPECT_EQ((*m)->here(), (*m)->leaf_of(processor));
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(machine, of_one_core_is_the_root_alone) {
  const auto m = imagined("core:1 pu:1");
  EXPECT_EQ(m->places().size(), 1u);
  EXPECT_EQ(m->here(), place_id::root);
  expect_sound(*m);
}

TEST(machine, has_no_levels_without_siblings) {
  const auto m = imagined("package:1 l3:1 core:4 pu:2");
  EXPECT_EQ(m->places().size(), 5u);
  EXPECT_EQ(m->places()[1].name, "core 0");
  EXPECT_EQ(m->places()[1].processors, (std::vector{0, 1}));
  expect_sound(*m);
}

TEST(machine, keeps_the_levels_that_matter) {
  const auto m = imagined("package:2 l3:2 core:3 pu:1");
  EXPECT_EQ(m->places().size(), 1u + 2 + 4 + 12);
  EXPECT_EQ(m->places()[1].name, "package 0");
  EXPECT_EQ(leaves(*m), 12);
  expect_sound(*m);
}

TEST(machine, has_places_for_every_level_pruned_or_not) {
  struct expectation {
    const char* description;
    std::vector<std::size_t> machine_to_core;  // places at machine, package, die, l3, core
  };
  for (const auto& [description, counts] :
       {expectation{"core:1 pu:1", {1, 1, 1, 1, 1}}, expectation{"core:4 pu:2", {1, 1, 1, 1, 4}},
        expectation{"package:2 core:4 pu:1", {1, 2, 2, 2, 8}},
        expectation{"package:2 l3:1 core:1 pu:2", {1, 2, 2, 2, 2}},
        expectation{"package:1 l3:2 core:2 pu:1", {1, 1, 1, 2, 4}},
        expectation{"package:8 l3:8 core:8 pu:2", {1, 8, 8, 64, 512}}}) {
    const auto m = imagined(description);
    for (std::size_t l = 0; l < counts.size(); ++l) {
      const auto chosen = m->places_at(static_cast<level>(l));
      EXPECT_EQ(chosen.size(), counts[l]) << description << ", level " << l;
      std::vector<int> covered;
      for (const auto id : chosen) {
        const auto& below = m->places()[static_cast<std::size_t>(id)].processors;
        covered.insert(covered.end(), below.begin(), below.end());
      }
      std::ranges::sort(covered);
      EXPECT_EQ(covered, m->places()[0].processors) << description << ", level " << l;
    }
  }
}

TEST(machine, may_be_as_large_as_8_packages_of_64_cores) {
  const auto m = imagined("package:8 l3:8 core:8 pu:2");
  EXPECT_EQ(leaves(*m), 512);
  expect_sound(*m);
}

TEST(machine, that_makes_no_sense_is_refused_by_name) {
  const auto m = machine::imagine("pizza:4");
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().kind, base::fault_kind::bad_input);
  EXPECT_NE(m.error().text.find("pizza:4"), std::string::npos);
}

/// What a confined process counts as the processors of the job, with a confined parent or not.
int shared_processors(bool parent_too) {
  int out[2];
  if (pipe(out) != 0) return -1;
  const auto confine = [] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  };
  if (fork() == 0) {  // the launcher
    if (parent_too) confine();
    const auto rank = fork();
    if (rank == 0) {
      if (!parent_too) confine();
      auto m = machine::read();
      const int shared = m ? (*m)->node_processors() : -1;
      std::_Exit(write(out[1], &shared, sizeof shared) == sizeof shared ? 0 : 1);
    }
    waitpid(rank, nullptr, 0);
    std::_Exit(0);
  }
  int shared = -1;
  if (read(out[0], &shared, sizeof shared) != sizeof shared) shared = -1;
  wait(nullptr);
  close(out[0]);
  close(out[1]);
  return shared;
}

TEST(machine, of_a_confined_launcher_is_shared_by_all_that_it_starts) {
  EXPECT_EQ(shared_processors(true), 1);
}

TEST(machine, is_shared_by_as_many_processors_as_the_settings_say_but_not_more_than_it_has) {
  const int all = machine::read().value()->node_processors();
  EXPECT_EQ(machine::read({.node_processors = 1}).value()->node_processors(), 1);
  EXPECT_EQ(machine::read({.node_processors = all + 1}).value()->node_processors(), all);
}

TEST(machine, of_ranks_that_are_bound_one_by_one_is_the_whole) {
  auto m = machine::read();
  ASSERT_TRUE(m);
  EXPECT_EQ(shared_processors(false), (*m)->node_processors());
}

TEST(machine, has_only_the_processors_that_the_process_is_bound_to) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  auto m = machine::read();
  ASSERT_TRUE(m);
  EXPECT_EQ((*m)->places()[0].processors, std::vector{first});
  EXPECT_EQ((*m)->usable_processors(), 1);
  EXPECT_GE((*m)->node_processors(), 1);
  EXPECT_LE((*m)->usable_processors(), (*m)->node_processors());
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace headway::topology
