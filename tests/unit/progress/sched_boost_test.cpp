#include "progress/os/sched_boost.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "lighter_thread.hpp"

namespace headway::progress::testing::sched_boost_tests {
namespace {

TEST(sched_boost, gives_back_the_slices_that_the_program_had) {
  in_a_lighter_thread([] {
    sched_boost s;
    const auto before = of_this_thread();
    {
      scoped_boost me(s, gettid());
      EXPECT_TRUE(me.ask(false));
      EXPECT_EQ(of_this_thread().nice, lighter_nice);
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST(sched_boost, gives_back_the_weight_that_the_program_had) {
  if (!may_raise_weight()) GTEST_SKIP() << "needs CAP_SYS_NICE or RLIMIT_NICE";
  in_a_lighter_thread([] {
    sched_boost s;
    const auto before = of_this_thread();
    {
      scoped_boost me(s, gettid());
      EXPECT_TRUE(me.ask(true));
      EXPECT_EQ(of_this_thread().nice, greatest_weight);
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST(sched_boost, ends_with_the_last_lower_in_any_order) {
  if (!may_raise_weight()) GTEST_SKIP() << "needs CAP_SYS_NICE or RLIMIT_NICE";
  in_a_lighter_thread([] {
    sched_boost s;
    const auto before = of_this_thread();
    std::optional<scoped_boost> itself, another;
    itself.emplace(s, gettid()).ask(false);
    another.emplace(s, gettid()).ask(true);
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    itself.reset();
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    itself.emplace(s, gettid()).ask(true);
    another.reset();
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    itself.reset();
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST(sched_boost, of_a_thread_that_ended_is_not_given_to_the_next_one) {
  sched_boost s;
  std::optional<scoped_boost> helper;
  in_a_lighter_thread([&] {
    helper.emplace(s, gettid());
    EXPECT_TRUE(helper->ask(false));
  });
  in_a_lighter_thread([&] {
    const auto before = of_this_thread();
    {
      scoped_boost me(s, gettid());
      EXPECT_TRUE(me.ask(false));
      helper.reset();  // late: no effect any more
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST(sched_boost, is_raised_and_lowered_by_several_threads_at_once) {
  in_a_lighter_thread([] {
    sched_boost s;
    const auto before = of_this_thread();
    const auto raise_often = [&s, thread = gettid()] {
      for (int i = 0; i < 2000; ++i) {
        scoped_boost it(s, thread);
        it.ask(i % 2 == 0);
      }
    };
    {
      std::jthread one(raise_often), two(raise_often);
      raise_often();
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

}  // namespace
}  // namespace headway::progress::testing::sched_boost_tests
