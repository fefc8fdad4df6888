#include "sampling/rail_clock.hpp"

#include <gtest/gtest.h>

namespace headway::sampling {
namespace {

TEST(rail_clock, is_free_at_first_and_again_when_time_has_passed) {
  rail_clock c;
  EXPECT_EQ(c.busy_ns(1000), 0);
  c.begun(1000, 500);
  EXPECT_EQ(c.busy_ns(1000), 500);
  EXPECT_EQ(c.busy_ns(1400), 100);
  EXPECT_EQ(c.busy_ns(9000), 0);
}

TEST(rail_clock, transfers_queue_behind_each_other) {
  rail_clock c;
  c.begun(1000, 500);
  c.begun(1100, 300);
  EXPECT_EQ(c.busy_ns(1100), 700);
}

TEST(rail_clock, what_comes_through_early_or_late_sets_it_right) {
  rail_clock c;
  c.begun(1000, 500);
  c.begun(1000, 300);
  c.ended(1200, 500);
  EXPECT_EQ(c.busy_ns(1200), 300);
  c.ended(1900, 300);
  EXPECT_EQ(c.busy_ns(1900), 0);
  c.begun(1900, 100);
  c.ended(5000, 50);
  EXPECT_EQ(c.busy_ns(5000), 50);
}

}  // namespace
}  // namespace headway::sampling
