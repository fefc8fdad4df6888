// Polling points one by one, and threads that are lent.

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "fixture.hpp"
#include "progress/background/polling_points.hpp"

namespace headway::progress::testing::points_tests {
namespace {

struct shot : ltask {
  shot() : ltask("shot", &run, ltask_kind::one_shot) {}
  static ltask_result run(ltask& self) noexcept {
    static_cast<shot&>(self).ended.complete();
    return ltask_result::done;
  }
  completion ended;
};

TEST(points, are_turned_on_and_off_one_by_one) {
  running e(polling::off);
  for (const auto point : {polling_point::event, polling_point::timer, polling_point::idle}) {
    EXPECT_FALSE(e->points().is_on(point));
    e->points().turn(point, true);
    e->points().turn(point, true);
    EXPECT_TRUE(e->points().is_on(point));
    shot task;
    e->submit(task);
    EXPECT_TRUE(
        eventually([&] { return task.ended.test(); }));  // no thread of the program calls in
    e->points().turn(point, false);
    EXPECT_FALSE(e->points().is_on(point));
  }
}

TEST(points, run_beside_each_other) {
  running e(polling::automatic);
  e->points().turn(polling_point::timer, true);
  e->points().turn(polling_point::idle, true);
  EXPECT_TRUE(e->points().is_on(polling_point::event));
  for (int i = 0; i < 100; ++i) {
    shot task;
    e->submit(task);
    e->wait(task.ended);
  }
}

TEST(lent_thread, polls_for_all_threads_until_it_is_given_back) {
  running e(polling::off);
  base::atomic<std::uint32_t> give_back{0};
  std::jthread lent([&] { e->points().lend(give_back, base::no_deadline); });
  for (int i = 0; i < 3; ++i) {
    pass_time(5);  // it sleeps meanwhile
    shot task;
    e->submit(task);
    EXPECT_TRUE(eventually([&] { return task.ended.test(); }));
  }
  e->points().end_lending(give_back);
}

TEST(lent_thread, returns_at_its_deadline) {
  running e(polling::off);
  base::atomic<std::uint32_t> give_back{0};
  e->points().lend(give_back, base::machine_now_ns() + 2'000'000);
  e->pending_started();
  e->points().lend(give_back, base::machine_now_ns() + 2'000'000);
  e->pending_ended();
}

TEST(submission, at_a_place_runs_there_or_in_a_sweep) {
  running e(polling::off, waiting_policy::adaptive, "package:2 core:2 pu:1");
  for (const auto& place : e.machine->places()) {
    shot task;
    e->submit_at(place.id, task);
    e->wait(task.ended);
  }
}

}  // namespace
}  // namespace headway::progress::testing::points_tests
