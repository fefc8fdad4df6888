#include "progress/waiting/sleep_signs.hpp"

#include <gtest/gtest.h>

namespace headway::progress::sleep_signs_tests {
namespace {

TEST(sleep_signs, show_whether_a_waiting_thread_sleeps) {
  sleep_signs signs;
  sleep_signs::word first{7}, second{7};
  signs.add(first);
  EXPECT_EQ(first.load(std::memory_order_relaxed), 0u);
  signs.begin();
  EXPECT_EQ(first.load(std::memory_order_relaxed), 1u);
  signs.add(second);
  EXPECT_EQ(second.load(std::memory_order_relaxed), 1u) << "one sleeps already";
  signs.begin();
  signs.end();
  EXPECT_EQ(first.load(std::memory_order_relaxed), 1u) << "the other still sleeps";
  signs.remove(first);
  signs.end();
  EXPECT_EQ(first.load(std::memory_order_relaxed), 1u) << "it is no sign any more";
  EXPECT_EQ(second.load(std::memory_order_relaxed), 0u);
}

}  // namespace
}  // namespace headway::progress::sleep_signs_tests
