#include "sampling/departure_clock.hpp"

#include <gtest/gtest.h>

namespace headway::sampling {
namespace {

TEST(departure_clock, counts_what_was_given_one_behind_the_other) {
  departure_clock c;
  EXPECT_EQ(c.busy_ns(1000), 0);
  c.given(1000, 500);
  c.given(1100, 300);
  EXPECT_EQ(c.busy_ns(1100), 700);
  EXPECT_EQ(c.busy_ns(9000), 0);
  c.given(9000, 50);
  EXPECT_EQ(c.busy_ns(9000), 50) << "an idle time is no credit";
}

TEST(departure_clock, moves_what_follows_forward_when_something_went_sooner) {
  departure_clock c;
  const auto first = c.given(1000, 500);
  const auto second = c.given(1000, 300);
  c.given(1000, 200);
  c.gone(1100, first, 0);
  EXPECT_EQ(c.busy_ns(1100), 500) << "400 sooner than planned";
  c.gone(1100, first, 0);
  EXPECT_EQ(c.busy_ns(1100), 500) << "it is known already";
  c.gone(1100, second, 100);
  EXPECT_EQ(c.busy_ns(1100), 300) << "what is left of it, and what is behind it";
}

TEST(departure_clock, believes_no_late_news) {
  departure_clock c;
  const auto first = c.given(1000, 500);
  c.given(1600, 300);
  c.gone(1700, first, 0);
  EXPECT_EQ(c.busy_ns(1700), 200);
}

TEST(departure_clock, forgets_what_was_not_taken) {
  departure_clock c;
  c.given(1000, 500);
  c.given(1000, 300);
  c.taken_back(300);
  EXPECT_EQ(c.busy_ns(1000), 500);
}

}  // namespace
}  // namespace headway::sampling
