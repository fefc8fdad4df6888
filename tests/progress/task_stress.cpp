// Goal:   an ltask of headway/progress.h runs on one thread at a time, ends once for each
//         submission, and misses no resume, while threads suspend, resume, ask, cancel and wait.
// Method: a fixed number of operations for each thread and seed, over a few ltasks that all
//         threads use; under ThreadSanitizer in preset tsan.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "headway/progress.h"

namespace {

struct job {
  headway_ltask task;
  std::uint64_t runs = 0;  // plain: the library serialises the runs
  std::atomic<bool> inside{false};
  std::atomic<int> ends{0};
  int life = 0;  // runs until it ends by itself
  int number = 0;

  static headway_ltask_result run(headway_ltask* self, void* argument) {
    auto& me = *static_cast<job*>(argument);
    EXPECT_FALSE(me.inside.exchange(true));
    ++me.runs;
    const bool over = headway_ltask_asked(self) || --me.life <= 0;
    const auto mood = me.runs % 7;
    me.inside.store(false);
    if (over) return HEADWAY_LTASK_DONE;
    if (mood == 0) return HEADWAY_LTASK_SUSPEND;
    return mood < 4 ? HEADWAY_LTASK_IDLE : HEADWAY_LTASK_ADVANCED;
  }
  static headway_ltask_result block(headway_ltask* self, void* argument, std::uint64_t) {
    usleep(50);
    return run(self, argument);
  }
  static void ended(void* argument) { ++static_cast<job*>(argument)->ends; }

  void prepare(int which) {
    headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
    number = which;
    a.name = "job";
    a.run = run;
    a.argument = this;
    a.place = which % 2 ? HEADWAY_LTASK_PLACE_SUBMITTER : HEADWAY_LTASK_PLACE_MACHINE;
    a.block = which % 4 == 3 ? block : nullptr;
    a.block_delay_ns = 20'000;
    a.ended = ended;
    ASSERT_EQ(headway_ltask_init(&task, &a), HEADWAY_PROGRESS_OK);
  }
};

constexpr int jobs = 4, lives = 150;

/// Submits its job again and again, and resumes it when no other thread does.
void own(job& mine) {
  std::mt19937 random(static_cast<unsigned>(mine.number));
  for (int i = 1; i <= lives; ++i) {
    mine.life = static_cast<int>(random() % 40) + 1;
    ASSERT_EQ(headway_ltask_submit(&mine.task), HEADWAY_PROGRESS_OK);
    while (headway_ltask_wait_for(&mine.task, 300'000) == HEADWAY_PROGRESS_TIMEOUT)
      ASSERT_GE(headway_ltask_resume(&mine.task), 0);
    while (mine.ends.load() != i) std::this_thread::yield();
  }
}

/// Random requests at random times.
void meddle(std::array<job, jobs>& all, unsigned seed, const std::stop_token& stop) {
  std::mt19937 random(seed);
  while (!stop.stop_requested()) {
    auto* task = &all[random() % jobs].task;
    switch (random() % 8) {
      case 0:
        ASSERT_GE(headway_ltask_cancel(task), 0);
        break;
      case 1:
        ASSERT_GE(headway_ltask_ask(task), 0);
        break;
      case 2:
        ASSERT_GE(headway_ltask_wait_for(task, random() % 100'000), 0);
        break;
      case 3:
      case 4:
        ASSERT_GE(headway_ltask_resume(task), 0);
        break;
      case 5:
        usleep(static_cast<useconds_t>(random() % 100));
        break;
      default:
        ASSERT_GE(headway_ltask_suspend(task), 0);
    }
  }
}

class task_stress : public ::testing::TestWithParam<unsigned> {};

TEST_P(task_stress, ends_each_submission_once_whatever_others_wish) {
  headway_progress_options o = HEADWAY_PROGRESS_OPTIONS;
  o.points_from_user = 0;
  o.points = GetParam();
  ASSERT_EQ(headway_progress_start(&o), HEADWAY_PROGRESS_OK);
  {
    std::array<job, jobs> all;
    for (int i = 0; i < jobs; ++i) all[static_cast<std::size_t>(i)].prepare(i);
    // Requests for an ltask that was never submitted are misuse.
    for (auto& one : all) {
      one.life = 1;
      ASSERT_EQ(headway_ltask_submit(&one.task), HEADWAY_PROGRESS_OK);
      ASSERT_EQ(headway_ltask_wait(&one.task), HEADWAY_PROGRESS_OK);
      while (one.ends.exchange(0) == 0) std::this_thread::yield();
    }
    std::vector<std::jthread> meddlers, owners;
    for (unsigned i = 0; i < 2; ++i)
      meddlers.emplace_back([&, i](const std::stop_token& stop) { meddle(all, i, stop); });
    for (auto& one : all) owners.emplace_back([&] { own(one); });
    owners.clear();
    meddlers.clear();
    for (auto& one : all) EXPECT_EQ(headway_ltask_destroy(&one.task), HEADWAY_PROGRESS_OK);
  }
  EXPECT_EQ(headway_progress_stop(), HEADWAY_PROGRESS_OK);
}

INSTANTIATE_TEST_SUITE_P(points, task_stress, ::testing::Values(0u, 1u, 2u, 7u));

TEST(task_stress, several_waiters_and_givers_up_all_return) {
  ASSERT_EQ(headway_progress_start(nullptr), HEADWAY_PROGRESS_OK);
  struct gate {
    headway_ltask task;
    std::atomic<bool> open{false};
  };
  for (int round = 0; round < 60; ++round) {
    gate g;
    headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
    a.name = "gate";
    a.argument = &g;
    a.run = [](headway_ltask*, void* argument) {
      return static_cast<gate*>(argument)->open ? HEADWAY_LTASK_DONE : HEADWAY_LTASK_IDLE;
    };
    ASSERT_EQ(headway_ltask_init(&g.task, &a), HEADWAY_PROGRESS_OK);
    ASSERT_EQ(headway_ltask_submit(&g.task), HEADWAY_PROGRESS_OK);
    std::vector<std::jthread> waiters;
    for (int w = 0; w < 6; ++w)
      waiters.emplace_back([&, w] {
        if (w % 3 == 0) static_cast<void>(headway_ltask_wait_for(&g.task, 100'000));
        EXPECT_EQ(headway_ltask_wait(&g.task), HEADWAY_PROGRESS_OK);
      });
    usleep(static_cast<useconds_t>(round % 7) * 100);
    g.open = true;
  }
  EXPECT_EQ(headway_progress_stop(), HEADWAY_PROGRESS_OK);
}

}  // namespace
