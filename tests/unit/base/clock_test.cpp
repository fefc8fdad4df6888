#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using headway::base::atomic;
using headway::base::clock;
using headway::base::now_ns;
using headway::base::process_clock_override;

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

TEST(process_clock_override, lasts_as_long_as_it_lives) {
  atomic<std::uint64_t> now{7}, inner{9};
  {
    const process_clock_override set(now);
    EXPECT_EQ(now_ns(), 7u);
    {
      const process_clock_override nested(inner);
      EXPECT_EQ(now_ns(), 9u);
    }
    EXPECT_EQ(now_ns(), 7u);
  }
  EXPECT_GT(now_ns(), 9u);
}

}  // namespace
