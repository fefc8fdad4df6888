#include "progress/kept_weight.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "lighter_thread.hpp"

namespace headway::progress::testing {
namespace {

constexpr std::uint64_t lasts_ns = kept_weight::lasts_ns;

class kept_weight_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_have_weight()) GTEST_SKIP() << "needs CAP_SYS_NICE or RLIMIT_NICE";
  }

  /// A wait with weight, at whose end it is asked to be kept.
  bool wait_until(std::uint64_t now_ns) {
    preferred in_the_wait(mine, gettid());
    EXPECT_TRUE(in_the_wait.ask(true));
    return kept.keep(mine, gettid(), now_ns);
  }

  standing mine;
  kept_weight kept;
};

TEST_F(kept_weight_test, lasts_until_the_thread_has_not_waited_for_a_while) {
  kept.keeper_comes();
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.look(1000 + lasts_ns - 1), 1000 + lasts_ns);
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.look(1000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST_F(kept_weight_test, is_put_off_by_each_wait_and_news_only_once) {
  kept.keeper_comes();
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_FALSE(wait_until(2000));
    EXPECT_EQ(kept.look(1000 + lasts_ns), 2000 + lasts_ns);
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    EXPECT_EQ(kept.look(2000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_TRUE(wait_until(3000));
    kept.keeper_goes();
  });
}

TEST_F(kept_weight_test, needs_a_keeper_who_leaves_nothing_behind) {
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_FALSE(wait_until(1000));
    EXPECT_EQ(of_this_thread(), before);
    kept.keeper_comes();
    EXPECT_TRUE(wait_until(2000));
    kept.keeper_goes();
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_FALSE(wait_until(3000));
    EXPECT_EQ(of_this_thread(), before);
  });
}

// A program makes its computing threads between two waits.
TEST_F(kept_weight_test, is_not_inherited_by_threads_made_meanwhile) {
  kept.keeper_comes();
  std::jthread([this] {
    const auto before = of_this_thread();
    EXPECT_TRUE(wait_until(1000));
    EXPECT_EQ(of_this_thread().nice, greatest_weight);
    std::jthread([&before] { EXPECT_EQ(of_this_thread(), before); }).join();
    kept.keeper_goes();
    EXPECT_EQ(of_this_thread(), before);
  }).join();
}

TEST_F(kept_weight_test, is_one_threads_at_a_time) {
  kept.keeper_comes();
  in_a_lighter_thread([this] {
    EXPECT_TRUE(wait_until(1000));
    in_a_lighter_thread([this] {
      standing another;
      const auto before = of_this_thread();
      {
        preferred in_the_wait(another, gettid());
        EXPECT_TRUE(in_the_wait.ask(true));
        EXPECT_FALSE(kept.keep(another, gettid(), 5000));
      }
      EXPECT_EQ(of_this_thread(), before);
    });
    EXPECT_EQ(kept.look(2000), 1000 + lasts_ns);
    kept.keeper_goes();
  });
}

TEST_F(kept_weight_test, of_a_thread_that_ended_is_not_given_to_the_next_one) {
  kept.keeper_comes();
  in_a_lighter_thread([this] { EXPECT_TRUE(wait_until(1000)); });
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    EXPECT_FALSE(wait_until(2000));
    EXPECT_EQ(of_this_thread(), before);
    EXPECT_EQ(kept.look(1000 + lasts_ns), base::no_deadline);
    EXPECT_EQ(of_this_thread(), before);
  });
}

TEST_F(kept_weight_test, comes_back_whoever_looks_meanwhile) {
  in_a_lighter_thread([this] {
    const auto before = of_this_thread();
    {
      kept.keeper_comes();
      std::jthread keeper([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) static_cast<void>(kept.look(base::now_ns() + lasts_ns / 2));
        kept.keeper_goes();
      });
      for (int i = 0; i < 2000; ++i) wait_until(base::now_ns());
    }
    EXPECT_EQ(of_this_thread(), before);
  });
}

}  // namespace
}  // namespace headway::progress::testing
