#include "base/copy_cost.hpp"

#include <gtest/gtest.h>

namespace headway::base::copy_cost_tests {
namespace {

constexpr std::size_t block = 65536;

TEST(copy_cost, is_unknown_until_a_copy_was_timed) {
  copy_cost c;
  EXPECT_EQ(c.ns(), 0u);
  EXPECT_TRUE(c.run(block, false, [] { return true; }));
  EXPECT_EQ(c.ns(), 0u);
  EXPECT_TRUE(c.run(block, true, [] { return true; }));
  EXPECT_NE(c.ns(), 0u);
}

TEST(copy_cost, a_copy_that_failed_says_nothing) {
  copy_cost c;
  EXPECT_FALSE(c.run(block, true, [] { return false; }));
  EXPECT_EQ(c.ns(), 0u);
}

TEST(copy_cost, is_for_64_kib) {
  copy_cost c;
  c.note(block / 2, 1000);
  EXPECT_EQ(c.ns(), 2000u);
}

TEST(copy_cost, one_that_lost_its_processor_changes_little) {
  copy_cost c;
  c.note(block, 4000);
  c.note(block, 10'000'000);
  EXPECT_LE(c.ns(), 4500u);
}

TEST(copy_cost, follows_a_lasting_change) {
  copy_cost c;
  c.note(block, 4000);
  for (int i = 0; i < 40; ++i) c.note(block, 16000);
  EXPECT_GE(c.ns(), 15000u);
  for (int i = 0; i < 40; ++i) c.note(block, 2000);
  EXPECT_LE(c.ns(), 2200u);
}

}  // namespace
}  // namespace headway::base::copy_cost_tests
