#include <gtest/gtest.h>

#include <atomic>
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

constexpr auto never = [] { return false; };

TEST(window_lock, is_waited_for_in_turns) {
  window_lock lock;
  ASSERT_TRUE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.wait_turn(lock_type::exclusive, never)) << "it is not released";
  EXPECT_FALSE(lock.wait_turn(lock_type::shared, never));
  EXPECT_FALSE(lock.unlock(lock_type::exclusive));
  EXPECT_TRUE(lock.wait_turn(lock_type::shared, never)) << "the turns before were given back";
  EXPECT_TRUE(lock.wait_turn(lock_type::shared, never));
  EXPECT_FALSE(lock.wait_turn(lock_type::exclusive, never));
}

TEST(window_lock, is_taken_without_a_turn_by_a_waiter_that_yields) {
  constexpr std::uint64_t long_ns = 60'000'000'000, short_ns = 1'000'000;
  window_lock lock;
  ASSERT_TRUE(lock.try_lock(lock_type::exclusive));
  EXPECT_FALSE(lock.wait_yielding(lock_type::exclusive, short_ns, never)) << "it is not released";
  EXPECT_FALSE(lock.wait_yielding(lock_type::exclusive, long_ns, [] { return true; }));
  std::thread holder([&] { EXPECT_FALSE(lock.unlock(lock_type::exclusive)); });
  EXPECT_TRUE(lock.wait_yielding(lock_type::exclusive, long_ns, never));
  holder.join();
  lock.begin_queue();
  EXPECT_FALSE(lock.wait_yielding(lock_type::exclusive, long_ns, never)) << "others queue";
}

TEST(window_lock, gives_no_turn_while_others_queue) {
  window_lock lock;
  lock.begin_queue();
  EXPECT_FALSE(lock.wait_turn(lock_type::shared, never));
  lock.end_queue();
  EXPECT_TRUE(lock.wait_turn(lock_type::shared, never));
}

// The lock always has a reader, so a writer that waits never gets it. Without a bound, other
// readers would take it past the writer for ever.
TEST(window_lock, is_not_taken_past_a_waiting_process_for_ever) {
  window_lock lock;
  ASSERT_TRUE(lock.try_lock(lock_type::shared));
  std::atomic<bool> refused{false};
  std::thread writer([&] {
    while (!refused.load(std::memory_order_relaxed))
      EXPECT_FALSE(lock.wait_turn(lock_type::exclusive, never));
  });
  while (lock.try_lock(lock_type::shared)) static_cast<void>(lock.unlock(lock_type::shared));
  refused.store(true, std::memory_order_relaxed);
  writer.join();
  EXPECT_TRUE(lock.try_lock(lock_type::shared)) << "no process waits any more";
}

TEST(window_lock, orders_what_its_holders_write_in_turns) {
  window_lock lock;
  testing::expect_ordered_sections([&](const auto& count) {
    while (!lock.try_lock(lock_type::exclusive) && !lock.wait_turn(lock_type::exclusive, never))
      std::this_thread::yield();
    count();
    static_cast<void>(lock.unlock(lock_type::exclusive));
  });
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
