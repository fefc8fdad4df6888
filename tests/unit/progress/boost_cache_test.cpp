#include "progress/os/boost_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "lighter_thread.hpp"

namespace headway::progress::testing::boost_cache_tests {
namespace {

constexpr std::uint64_t lasts_ns = boost_cache::lasts_ns;

class boost_cache_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_raise_weight()) GTEST_SKIP() << "needs CAP_SYS_NICE or RLIMIT_NICE";
  }

  /// A wait with weight, which is kept at its end.
  bool wait_until(std::uint64_t now_ns) {
    scoped_boost in_the_wait(mine, gettid());
    EXPECT_TRUE(in_the_wait.ask(true));
    return kept.keep(mine, gettid(), now_ns);
  }

  sched_boost mine;
  boost_cache kept;
};

TEST_F(boost_cache_test, lasts_until_the_thread_has_not_waited_for_a_while) {
  kept.owner_started();
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.give_back_due(1000 + lasts_ns - 1), 1000 + lasts_ns);
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.give_back_due(1000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST_F(boost_cache_test, is_put_off_by_each_wait_and_news_only_once) {
  kept.owner_started();
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_FALSE(wait_until(2000));
    EXPECT_EQ(kept.give_back_due(1000 + lasts_ns), 2000 + lasts_ns);
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.give_back_due(2000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_TRUE(wait_until(3000));
    kept.owner_stopped();
  });
}

TEST_F(boost_cache_test, needs_an_owner_that_gives_back_what_is_left) {
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_FALSE(wait_until(1000));
    EXPECT_EQ(of_this_thread(), before);
    kept.owner_started();
    EXPECT_TRUE(wait_until(2000));
    kept.owner_stopped();
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_FALSE(wait_until(3000));
    EXPECT_EQ(of_this_thread(), before);
  });
}

// A program makes its computing threads between two waits.
TEST_F(boost_cache_test, is_not_inherited_by_threads_created_meanwhile) {
  kept.owner_started();
  std::jthread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    std::jthread([&before] { EXPECT_EQ(of_this_thread(), before); }).join();
    kept.owner_stopped();
    EXPECT_EQ(of_this_thread(), before);
  }).join();
}

TEST_F(boost_cache_test, is_one_threads_at_a_time) {
  kept.owner_started();
  in_a_lighter_thread([this] {
    EXPECT_TRUE(wait_until(1000));
    in_a_lighter_thread([this] {
      sched_boost another;
      const auto before = of_this_thread();
      {
        scoped_boost in_the_wait(another, gettid());
        EXPECT_TRUE(in_the_wait.ask(true));
        EXPECT_FALSE(kept.keep(another, gettid(), 5000));
      }
      EXPECT_EQ(of_this_thread(), before);
    });
    EXPECT_EQ(kept.give_back_due(2000), 1000 + lasts_ns);
    kept.owner_stopped();
  });
}

TEST_F(boost_cache_test, of_a_thread_that_ended_is_not_given_to_the_next_one) {
  kept.owner_started();
  in_a_lighter_thread([this] { EXPECT_TRUE(wait_until(1000)); });
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_FALSE(wait_until(2000));
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_EQ(kept.give_back_due(1000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST_F(boost_cache_test, is_given_back_although_another_thread_looks_meanwhile) {
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    {
      kept.owner_started();
      std::jthread owner([this](const std::stop_token& stop) {
        while (!stop.stop_requested())
          static_cast<void>(kept.give_back_due(base::machine_now_ns() + lasts_ns / 2));
        kept.owner_stopped();
      });
      for (int i = 0; i < 2000; ++i) wait_until(base::machine_now_ns());
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

}  // namespace
}  // namespace headway::progress::testing::boost_cache_tests
