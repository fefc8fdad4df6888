#include <gtest/gtest.h>

#include "base/mpsc_queue.hpp"

namespace headway::base {
namespace {

struct queued {
  mpsc_link hook = {};
  int value = 0;
  static mpsc_link& link(queued& m) { return m.hook; }
};
using queue = mpsc_queue<queued, &queued::link>;

TEST(mpsc_queue, pops_in_the_order_of_the_pushes) {
  queue q;
  queued a{.value = 1}, b{.value = 2}, c{.value = 3};
  EXPECT_TRUE(q.empty());
  q.push(a);
  q.push(b);
  EXPECT_FALSE(q.empty());
  EXPECT_EQ(q.pop(), &a);
  q.push(c);
  EXPECT_EQ(q.pop(), &b);
  EXPECT_EQ(q.pop(), &c);
  EXPECT_EQ(q.pop(), nullptr);
  EXPECT_TRUE(q.empty());
}

TEST(mpsc_queue, takes_a_member_again_once_it_was_popped) {
  queue q;
  queued a;
  for (int i = 0; i < 3; ++i) {
    q.push(a);
    EXPECT_TRUE(q.fresh());
    EXPECT_FALSE(q.empty());
    EXPECT_EQ(q.pop(), &a);
    EXPECT_EQ(q.pop(), nullptr);
    EXPECT_TRUE(q.empty());
  }
}

TEST(mpsc_queue, distinguishes_a_member_that_is_pushed_again_from_its_earlier_push) {
  queue q;
  queued a, b;
  for (int i = 0; i < 3; ++i) {
    q.push(a);
    EXPECT_EQ(q.pop(), &a);
    q.push(b);
    q.push(a);  // not what was taken last, though it is the same
    EXPECT_FALSE(q.empty());
    EXPECT_EQ(q.pop(), &b);
    q.push(b);  // while `a` is popped, but not out
    EXPECT_EQ(q.pop(), &a);
    EXPECT_EQ(q.pop(), &b);
    EXPECT_EQ(q.pop(), nullptr);
    EXPECT_TRUE(q.empty());
  }
}

TEST(mpsc_queue, distinguishes_another_member_at_the_address_of_the_last_one) {
  queue q;
  for (int i = 0; i < 3; ++i) {
    queued a{.value = i};
    q.push(a);
    EXPECT_FALSE(q.empty());
    EXPECT_EQ(q.pop(), &a);
    EXPECT_EQ(q.pop(), nullptr);
  }
}

}  // namespace
}  // namespace headway::base
