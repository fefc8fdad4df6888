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

TEST(intrusive_list, takes_over_another_with_its_order) {
  intrusive_list<member> list, other;
  member a(1), b(2), c(3), d(4);
  list.append(other);
  EXPECT_TRUE(list.empty());
  other.push_back(a);
  other.push_back(b);
  list.append(other);
  EXPECT_TRUE(other.empty());
  other.push_back(c);
  list.append(other);
  list.push_back(d);
  EXPECT_EQ(values(list), (std::vector{1, 2, 3, 4}));
  list.erase(b);
  other.push_back(b);
  EXPECT_EQ(values(list), (std::vector{1, 3, 4}));
  EXPECT_EQ(values(other), std::vector{2});
}

}  // namespace
}  // namespace headway::base
