#include "endpoints/delivery/adaptive_retry.hpp"

#include <gtest/gtest.h>

namespace headway::endpoints {
namespace {

TEST(adaptive_retry, is_due_on_every_occasion_while_it_pays) {
  adaptive_retry<4, 16> one;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(one.due());
    one.learn(true);
  }
}

TEST(adaptive_retry,
     is_tried_again_after_twice_as_many_occasions_up_to_the_most_while_it_does_not_pay) {
  adaptive_retry<4, 16> one;
  for (const int gap : {4, 8, 16, 16}) {
    ASSERT_TRUE(one.due());
    one.learn(false);
    for (int i = 0; i < gap; ++i) ASSERT_FALSE(one.due()) << gap << ' ' << i;
  }
  ASSERT_TRUE(one.due());
  one.learn(true);
  ASSERT_TRUE(one.due());
  one.learn(false);
  for (int i = 0; i < 4; ++i) ASSERT_FALSE(one.due());
  EXPECT_TRUE(one.due());
}

}  // namespace
}  // namespace headway::endpoints
