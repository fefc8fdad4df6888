#include "endpoints/wire/remote_endpoint.hpp"

#include <gtest/gtest.h>

namespace headway::endpoints::remote_endpoint_tests {
namespace {

using answer = remote_endpoint::answer;
constexpr std::uint32_t window = 16;
constexpr std::uint32_t first = 1u << slot_bits, second = 2u << slot_bits;  // uses of one slot

TEST(remote_endpoint, grants_below_half_of_the_window_whatever_a_message_needs) {
  remote_endpoint at;
  EXPECT_EQ(at.take(first, 7, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 2, window, nullptr), answer::full);
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::granted);
  EXPECT_FALSE(at.seems_free(first, window));
}

TEST(remote_endpoint, wakes_waiting_senders_when_half_of_the_window_is_back) {
  remote_endpoint at;
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  waiting_thread me;
  EXPECT_EQ(at.take(first, 1, window, &me), answer::full);
  at.give_back(first, 7, window);
  EXPECT_FALSE(me.test());
  at.give_back(first, 1, window);
  EXPECT_TRUE(me.test());
  EXPECT_FALSE(at.withdraw(me)) << "it is in the list no more";
}

TEST(remote_endpoint, counts_units_that_are_back_before_they_were_counted) {
  remote_endpoint at;
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::granted);
  at.give_back(first, 3, window);
  at.count(first, 2);
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::full) << "nothing was counted twice";
}

TEST(remote_endpoint, believes_no_more_than_a_window_is_given_back) {
  remote_endpoint at;
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::granted);
  for (int i = 0; i < 10; ++i) at.give_back(first, UINT32_MAX, window);
  unsigned granted = 0;
  while (at.take(first, 8, window, nullptr) == answer::granted) ++granted;
  EXPECT_EQ(granted, 4u);  // from -16 to 16 units
}

TEST(remote_endpoint, that_is_closed_wakes_its_senders_and_a_later_use_of_the_slot_begins_anew) {
  remote_endpoint at;
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 8, window, nullptr), answer::granted);
  waiting_thread me;
  EXPECT_EQ(at.take(first, 8, window, &me), answer::full);
  at.close(first);
  EXPECT_TRUE(me.test());
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::gone);
  EXPECT_EQ(at.take(second, 1, window, nullptr), answer::granted);
  EXPECT_EQ(at.take(first, 1, window, nullptr), answer::gone) << "an earlier use";
  at.lose();
  EXPECT_EQ(at.take(second, 1, window, nullptr), answer::gone);
}

}  // namespace
}  // namespace headway::endpoints::remote_endpoint_tests
