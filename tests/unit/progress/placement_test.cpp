// Where idle pollers run, read from the kernel: never outside the cpuset, none on a core that a
// computing thread of the program is bound to while another one is free.

#include "progress/os/placement.hpp"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress::testing::placement_tests {
namespace {

using topology::level;

std::vector<std::string> names(const std::string& description, level which, placing chosen) {
  auto m = topology::machine::imagine(description);
  EXPECT_TRUE(m);
  std::vector<std::string> all;
  for (const auto& site : poller_sites(**m, which, chosen)) {
    all.push_back(site.name);
    EXPECT_TRUE(site.processors.empty());  // no thread can be bound to imagined ones
  }
  return all;
}

TEST(poller_sites, are_at_the_level_and_places_that_were_chosen) {
  using ::testing::ElementsAre;
  const std::string two_by_two = "package:2 l3:1 core:2 pu:1";
  EXPECT_THAT(names(two_by_two, level::core, placing::all),
              ElementsAre("hw-idle0", "hw-idle1", "hw-idle2", "hw-idle3"));
  EXPECT_THAT(names(two_by_two, level::core, placing::first), ElementsAre("hw-idle0"));
  EXPECT_THAT(names(two_by_two, level::core, placing::odd), ElementsAre("hw-idle1", "hw-idle3"));
  EXPECT_THAT(names(two_by_two, level::core, placing::even), ElementsAre("hw-idle0", "hw-idle2"));
  EXPECT_THAT(names(two_by_two, level::l3, placing::all), ElementsAre("hw-idle0", "hw-idle2"));
  EXPECT_THAT(names(two_by_two, level::package, placing::odd), ElementsAre("hw-idle2"));
  EXPECT_THAT(names(two_by_two, level::machine, placing::all), ElementsAre("hw-idle0"));
}

TEST(poller_sites, are_never_none) {
  EXPECT_THAT(names("core:1 pu:1", level::core, placing::odd), ::testing::ElementsAre("hw-idle0"));
}

/// Processors of each background thread, by its name, as the kernel has them.
std::map<std::string, std::vector<int>> affinities() {
  std::map<std::string, std::vector<int>> found;
  DIR* folder = opendir("/proc/self/task");
  while (const auto* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    std::string name;
    std::ifstream(std::string("/proc/self/task/") + entry->d_name + "/comm") >> name;
    if (name.starts_with("hw-")) found[name] = processors_of_thread(std::atoi(entry->d_name));
  }
  closedir(folder);
  return found;
}

std::vector<int> own_processors() { return processors_of_thread(0); }

std::string poller_of(int processor) { return "hw-idle" + std::to_string(processor); }

/// The core that a processor belongs to: with hyperthreads, all of its processors.
std::vector<int> core_around(const topology::machine& m, int processor) {
  return m.places()[static_cast<std::size_t>(m.leaf_of(processor))].processors;
}

class idle_placement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (own_processors().size() < 2) GTEST_SKIP() << "one processor only: nothing to choose from";
  }
};

void expect_pollers(const settings& chosen, const std::map<std::string, std::vector<int>>& there) {
  running e(chosen);
  EXPECT_TRUE(eventually([&] { return affinities() == there; }));
}

TEST_F(idle_placement, of_all_is_one_poller_for_each_core_on_that_core) {
  auto m = topology::machine::read();
  std::map<std::string, std::vector<int>> expected;
  for (const int p : own_processors()) {
    const auto core = core_around(**m, p);
    expected[poller_of(core.front())] = core;
  }
  expect_pollers({.points = polling::idle}, expected);
}

TEST_F(idle_placement, of_the_first_is_one) {
  auto m = topology::machine::read();
  const auto core = core_around(**m, own_processors().front());
  expect_pollers({.points = polling::idle, .idle_places = placing::first},
                 {{poller_of(core.front()), core}});
}

TEST_F(idle_placement, per_machine_is_one_poller_that_may_run_anywhere) {
  const auto all = own_processors();
  expect_pollers({.points = polling::idle, .idle_level = level::machine},
                 {{poller_of(all.front()), all}});
}

bool all_threads_stay_on(int only, polling points) {
  bind_thread(0, {only});
  running e(points);
  if (!eventually([] { return !affinities().empty(); })) return false;
  return std::ranges::all_of(
      affinities(), [&](const auto& thread) { return thread.second == std::vector{only}; });
}

TEST_F(idle_placement, never_leaves_the_cpuset) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a child, whose cpuset is one processor
  for (const auto points : {polling::idle, polling::automatic, polling::timer, polling::event})
    EXPECT_EXIT(std::_Exit(all_threads_stay_on(own_processors().back(), points) ? 0 : 1),
                ::testing::ExitedWithCode(0), "");
}

/// Computes on one processor and never calls in.
class bound_computation {
 public:
  explicit bound_computation(int processor)
      : thread_([processor](const std::stop_token& stop) {
          bind_thread(0, {processor});
          while (!stop.stop_requested()) base::relax();
        }) {}

 private:
  std::jthread thread_;
};

TEST_F(idle_placement, keeps_off_the_core_of_a_bound_computing_thread_and_comes_back) {
  auto m = topology::machine::read();
  const auto all = own_processors();
  const auto name = poller_of(all.front());
  const auto taken = core_around(**m, all.front());
  std::vector<int> others;
  std::ranges::set_difference(all, taken, std::back_inserter(others));
  running e(settings{.points = polling::idle, .idle_level = level::machine});
  e->pending_started();
  {
    const bound_computation load(all.front());
    EXPECT_TRUE(eventually([&] { return affinities()[name] == others; }));
  }
  EXPECT_TRUE(eventually([&] { return affinities()[name] == all; }));
  e->pending_ended();
}

TEST_F(idle_placement, rests_where_its_only_core_is_taken_and_another_is_free) {
  running e(polling::idle);
  mailbox box(*e);
  e->pending_started();
  const bound_computation load(own_processors().front());
  EXPECT_TRUE(eventually([&] { return e->statistics().idle_rests > 0; }));
  completion c;  // the other pollers go on
  box.post(c);
  EXPECT_TRUE(eventually([&] { return c.test(); }));
  e->pending_ended();
}

TEST(free_part, is_the_whole_site_when_every_core_is_taken) {
  auto m = topology::machine::imagine("core:4 pu:1");
  ASSERT_TRUE(m);
  using ::testing::ElementsAre;
  EXPECT_THAT(free_part(**m, {0, 1}, {1}), ElementsAre(0));
  EXPECT_THAT(free_part(**m, {1}, {1}), ::testing::IsEmpty());
  EXPECT_THAT(free_part(**m, {1}, {0, 1, 2, 3}), ElementsAre(1));
}

}  // namespace
}  // namespace headway::progress::testing::placement_tests
