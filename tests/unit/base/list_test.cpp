#include <gtest/gtest.h>

#include <vector>

#include "base/intrusive_list.hpp"

namespace headway::base {
namespace {

struct member : list_hook<> {
  explicit member(int v) : value(v) {}
  int value;
};

std::vector<int> values(intrusive_list<member>& list) {
  std::vector<int> all;
  for (auto* m = list.front(); m; m = list.after(*m)) all.push_back(m->value);
  return all;
}

TEST(intrusive_list, keeps_the_order_of_both_its_ends) {
  intrusive_list<member> list;
  member a(1), b(2), c(3);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  list.push_back(b);
  list.push_back(c);
  list.push_front(a);
  EXPECT_EQ(values(list), (std::vector{1, 2, 3}));
}

TEST(intrusive_list, erases_any_member_which_may_then_join_again) {
  intrusive_list<member> list;
  member a(1), b(2), c(3);
  for (auto* m : {&a, &b, &c}) list.push_back(*m);
  list.erase(b);
  EXPECT_FALSE(b.linked());
  EXPECT_EQ(values(list), (std::vector{1, 3}));
  list.push_back(b);
  EXPECT_EQ(list.pop_front(), &a);
  EXPECT_EQ(values(list), (std::vector{3, 2}));
}

}  // namespace
}  // namespace headway::base
