#include "base/id_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace {

using headway::base::id_table;

TEST(id_table, finds_every_object_by_its_number_also_after_it_has_grown) {
  id_table<int> table;
  std::vector<int> objects(1'000);
  std::vector<std::uint32_t> ids;
  for (auto& one : objects) ids.push_back(table.insert(one));
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(table.find(ids[i]), &objects[i]);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_FALSE(std::set(ids.begin(), ids.end()).contains(0));
}

TEST(id_table, finds_nothing_by_a_number_that_was_taken_back) {
  id_table<int> table;
  int first = 1, second = 2;
  const auto old = table.insert(first);
  EXPECT_EQ(table.take(old), &first);
  EXPECT_EQ(table.take(old), nullptr);
  const auto now = table.insert(second);  // in the same slot
  EXPECT_NE(now, old);
  EXPECT_EQ(table.find(old), nullptr);
  EXPECT_EQ(table.find(now), &second);
}

TEST(id_table, takes_an_object_only_if_it_is_wanted) {
  id_table<int> table;
  int object = 3;
  const auto id = table.insert(object);
  EXPECT_EQ(table.take_if(id, [](int& one) { return one == 4; }), nullptr);
  EXPECT_EQ(table.find(id), &object);
  EXPECT_EQ(table.take_if(id, [](int& one) { return one == 3; }), &object);
  EXPECT_EQ(table.find(id), nullptr);
}

TEST(id_table, grows_while_several_threads_insert) {
  constexpr std::size_t threads = 4, each = 500;
  id_table<int> table;
  std::vector<int> objects(threads * each);
  std::vector<std::uint32_t> ids(objects.size());
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (auto i = t * each; i < (t + 1) * each; ++i) ids[i] = table.insert(objects[i]);
      });
  }
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(table.take(ids[i]), &objects[i]);
}

}  // namespace
