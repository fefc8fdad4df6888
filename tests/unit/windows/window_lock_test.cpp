#include <gtest/gtest.h>

#include <thread>

#include "counted_sections.hpp"
#include "windows/control_line.hpp"

namespace headway::windows {
namespace {

TEST(window_lock, admits_many_readers_or_one_writer) {
  window_lock lock;
  EXPECT_TRUE(lock.try_lock(lock_type::shared));
  EXPECT_TRUE(lock.try_lock(lock_type::shared));
  EXPECT_FALSE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.unlock(lock_type::shared));
  EXPECT_FALSE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.unlock(lock_type::shared));
  EXPECT_TRUE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.try_lock(lock_type::shared));
  EXPECT_FALSE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.unlock(lock_type::exclusive));
  EXPECT_TRUE(lock.try_lock(lock_type::shared));
}

TEST(window_lock, is_passed_by_nobody_while_others_queue) {
  window_lock lock;
  ASSERT_TRUE(lock.try_lock(lock_type::shared));
  lock.begin_queue();
  EXPECT_FALSE(lock.grant(lock_type::exclusive)) << "it is held";
  EXPECT_FALSE(lock.try_lock(lock_type::shared)) << "a writer waits";
  EXPECT_TRUE(lock.unlock(lock_type::shared)) << "the release is reported";
  EXPECT_FALSE(lock.try_lock(lock_type::shared));
  EXPECT_TRUE(lock.grant(lock_type::exclusive));
  EXPECT_FALSE(lock.grant(lock_type::shared));
  lock.end_queue();
  EXPECT_FALSE(lock.try_lock(lock_type::shared));
  EXPECT_FALSE(lock.unlock(lock_type::exclusive)) << "nobody queues any more";
  EXPECT_TRUE(lock.try_lock(lock_type::shared));
}

TEST(window_lock, orders_what_its_holders_write) {
  window_lock lock;
  testing::expect_ordered_sections([&](const auto& count) {
    while (!lock.try_lock(lock_type::exclusive)) std::this_thread::yield();
    count();
    static_cast<void>(lock.unlock(lock_type::exclusive));
  });
}

}  // namespace
}  // namespace headway::windows
