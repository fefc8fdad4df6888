#include <gtest/gtest.h>

#include "base/id_table.hpp"

namespace headway::messages {
namespace {

TEST(id_table, finds_what_was_inserted_and_nothing_after_it_was_taken) {
  base::id_table<int> table;
  int a = 1, b = 2;
  const auto id_a = table.insert(a), id_b = table.insert(b);
  EXPECT_NE(id_a, 0u);
  EXPECT_EQ(table.find(id_a), &a);
  EXPECT_EQ(table.take(id_a), &a);
  EXPECT_EQ(table.take(id_a), nullptr);
  EXPECT_EQ(table.find(id_b), &b);
}

TEST(id_table, does_not_find_the_new_object_under_the_old_number_of_its_slot) {
  base::id_table<int> table;
  int a = 1, b = 2;
  const auto old = table.insert(a);
  ASSERT_EQ(table.take(old), &a);
  const auto fresh = table.insert(b);
  EXPECT_NE(old, fresh);
  EXPECT_EQ(table.find(old), nullptr);
}

TEST(id_table, takes_any_number_from_outside_for_unknown) {
  base::id_table<int> table;
  for (const std::uint32_t id : {0u, 1u, 0xfffffu, 0xffffffffu}) EXPECT_EQ(table.find(id), nullptr);
}

}  // namespace
}  // namespace headway::messages
