#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/mask.hpp"
#include "base/spinlock.hpp"

namespace headway::base {
namespace {

TEST(spinlock, lets_one_in_at_a_time) {
  spinlock lock;
  int sum = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) {
          const std::lock_guard hold(lock);
          ++sum;
        }
      });
  }
  EXPECT_EQ(sum, 40'000);
}

TEST(spinlock, refuses_a_second_holder) {
  spinlock lock;
  const auto attempt = [&]() HEADWAY_NO_THREAD_SAFETY_ANALYSIS { return lock.try_lock(); };
  const auto leave = [&]() HEADWAY_NO_THREAD_SAFETY_ANALYSIS { lock.unlock(); };
  EXPECT_TRUE(attempt());
  EXPECT_FALSE(attempt());
  leave();
  EXPECT_TRUE(attempt());
  leave();
}

TEST(mask, refuses_a_second_holder_and_names_the_first) {
  mask m;
  const auto attempt = [&](mask::ticket t)
                           HEADWAY_NO_THREAD_SAFETY_ANALYSIS { return m.try_lock(t); };
  const auto leave = [&]() HEADWAY_NO_THREAD_SAFETY_ANALYSIS { m.unlock(); };
  const auto mine = next_ticket(), other = next_ticket();
  EXPECT_EQ(m.holder(), 0u);
  ASSERT_TRUE(attempt(mine));
  EXPECT_FALSE(attempt(other));
  EXPECT_EQ(m.holder(), mine);
  leave();
  ASSERT_TRUE(attempt(other));
  EXPECT_EQ(m.holder(), other);
  leave();
}

TEST(mask, distinguishes_two_tenures_of_one_thread_and_threads_from_each_other) {
  const auto first = next_ticket(), second = next_ticket();
  EXPECT_NE(first, second);
  EXPECT_EQ(thread_of(first), thread_of(second));
  EXPECT_EQ(thread_of(first | low_priority_bit), thread_of(first));
  std::jthread([&] { EXPECT_NE(thread_of(next_ticket()), thread_of(first)); }).join();
}

}  // namespace
}  // namespace headway::base
