#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using headway::base::atomic;
using headway::base::clock;
using headway::base::machine_now_ns;

TEST(clock, follows_the_machine_unless_it_is_given_a_number) {
  const clock machine;
  const auto before = machine.now_ns();
  EXPECT_FALSE(machine.is_virtual());
  EXPECT_GT(before, 0u);
  EXPECT_GE(machine.now_ns(), before);
}

TEST(clock, returns_the_number_that_a_test_sets_and_so_do_its_copies) {
  atomic<std::uint64_t> now{5};
  const clock set(now), copy = set;
  EXPECT_TRUE(copy.is_virtual());
  EXPECT_EQ(set.now_ns(), 5u);
  now.store(1'000, std::memory_order_relaxed);  // one thread
  EXPECT_EQ(copy.now_ns(), 1'000u);
}

TEST(clock, of_two_objects_stand_at_different_times) {
  atomic<std::uint64_t> early{1}, late{2};
  const clock one(early), other(late);
  EXPECT_EQ(one.now_ns(), 1u);
  EXPECT_EQ(other.now_ns(), 2u);
}

TEST(machine_now_ns, is_the_machines_time_whatever_clocks_there_are) {
  const atomic<std::uint64_t> early{1};
  const clock virtual_one(early), machine;
  const auto before = machine.now_ns();
  const auto now = machine_now_ns();
  EXPECT_EQ(virtual_one.now_ns(), 1u);
  EXPECT_GE(now, before);
  EXPECT_LE(now, machine.now_ns());
}

}  // namespace
