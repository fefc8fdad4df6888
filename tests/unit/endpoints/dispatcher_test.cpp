#include "endpoints/delivery/dispatcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "base/clock.hpp"

namespace headway::endpoints::dispatcher_tests {
namespace {

using base::us;

TEST(dispatcher, knows_when_most_threads_wait) {
  EXPECT_TRUE(most_wait(4, 4));
  EXPECT_TRUE(most_wait(2, 4));
  EXPECT_FALSE(most_wait(1, 4));
  EXPECT_FALSE(most_wait(0, 1));
  EXPECT_TRUE(most_wait(1, 1));
}

TEST(dispatcher, has_five_policies_that_differ) {
  const std::array all{policy::automatic, policy::pause, policy::yield, policy::loop,
                       policy::event};
  std::set<std::vector<between_looks>> answers;
  for (const auto how : all) {
    std::vector<between_looks> one;
    for (const auto gap : {1 * us, 50 * us, 5'000 * us})
      for (const bool most : {false, true})
        one.push_back(next_step(how, {.gap_ns = gap, .most_wait = most, .spare = true}));
    answers.insert(one);
  }
  EXPECT_EQ(answers.size(), all.size());
}

TEST(dispatcher, of_automatic_follows_the_rate_of_messages) {
  const auto at = [](std::uint64_t gap) {
    return next_step(policy::automatic, {.gap_ns = gap, .spare = true});
  };
  EXPECT_EQ(at(1 * us), between_looks::yield);
  EXPECT_EQ(at(50 * us), between_looks::pause);
  EXPECT_EQ(at(5'000 * us), between_looks::sleep);
}

TEST(dispatcher, of_automatic_looks_more_often_while_most_threads_wait) {
  const auto at = [](std::uint64_t gap) {
    return next_step(policy::automatic, {.gap_ns = gap, .most_wait = true, .spare = true});
  };
  EXPECT_EQ(at(1 * us), between_looks::nothing);
  EXPECT_EQ(at(50 * us), between_looks::yield);
  EXPECT_EQ(at(5'000 * us), between_looks::sleep);
}

TEST(dispatcher, of_automatic_takes_no_processor_from_threads_that_compute) {
  EXPECT_EQ(next_step(policy::automatic, {.gap_ns = 1 * us}), between_looks::sleep);
  EXPECT_NE(next_step(policy::automatic, {.gap_ns = 1 * us, .most_wait = true}),
            between_looks::sleep);
}

TEST(message_gap, follows_a_change_of_rate_in_a_few_messages) {
  message_gap gap;
  std::uint64_t now = 1'000'000 * us;
  gap.message(now);
  for (int i = 0; i < 30; ++i) gap.message(now += 5 * us);
  EXPECT_LT(gap.at(now), 10 * us);
  for (int i = 0; i < 30; ++i) gap.message(now += 100 * us);
  EXPECT_GT(gap.at(now), 90 * us);
}

TEST(message_gap, is_never_less_than_the_time_since_the_last_message) {
  message_gap gap;
  std::uint64_t now = 1'000'000 * us;
  for (int i = 0; i < 30; ++i) gap.message(now += 5 * us);
  EXPECT_GE(gap.at(now + 3'000 * us), 3'000 * us);
}

TEST(message_gap, forgets_one_long_rest_soon) {
  message_gap gap;
  std::uint64_t now = 1'000'000 * us;
  for (int i = 0; i < 30; ++i) gap.message(now += 5 * us);
  gap.message(now += 60'000'000 * us);
  for (int i = 0; i < 20; ++i) gap.message(now += 5 * us);
  EXPECT_LT(gap.at(now), 20 * us);
}

}  // namespace
}  // namespace headway::endpoints::dispatcher_tests
