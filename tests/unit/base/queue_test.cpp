#include <gtest/gtest.h>

#include "base/mpsc_queue.hpp"

namespace headway::base {
namespace {

struct member {
  mpsc_link<member> hook = {};
  int value = 0;
  static mpsc_link<member>& link(member& m) { return m.hook; }
};
using queue = mpsc_queue<member, &member::link>;

TEST(mpsc_queue, pops_in_the_order_of_the_pushes) {
  queue q;
  member a{.value = 1}, b{.value = 2}, c{.value = 3};
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.push(a));
  EXPECT_FALSE(q.push(b));
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
  member a;
  for (int i = 0; i < 3; ++i) {
    q.push(a);
    EXPECT_TRUE(q.fresh());
    EXPECT_EQ(q.pop(), &a);
    EXPECT_EQ(q.pop(), nullptr);
  }
}

}  // namespace
}  // namespace headway::base
