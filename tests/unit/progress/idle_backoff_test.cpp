#include "progress/background/idle_backoff.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace headway::progress::idle_backoff_tests {
namespace {

using base::ms;
using base::us;

/// A poller's rounds on a virtual clock.
struct rounds {
  idle_backoff way;
  std::uint64_t now = ms;
  /// A pause of `period_ns` or what takes its place, which the kernel makes `late_ns` longer.
  std::uint64_t after(std::uint64_t period_ns, std::uint64_t late_ns) {
    const auto pause = way.pause_ns(period_ns);
    now += pause + late_ns;
    way.paused(pause, now);
    return pause;
  }
};

TEST(idle_backoff, keeps_the_period_while_pauses_end_on_time) {
  rounds r;
  for (const auto period : {0 * us, us, 10 * us, 10 * ms})
    for (int i = 0; i < 10; ++i) EXPECT_EQ(r.after(period, 100 * us), period);
}

TEST(idle_backoff, rests_between_single_rounds_until_a_rest_ends_on_time) {
  rounds r;
  EXPECT_EQ(r.after(us, 0), us);
  EXPECT_EQ(r.after(us, idle_backoff::lost_ns), us);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(r.after(us, 500 * ms), idle_backoff::rest_ns);
  EXPECT_EQ(r.after(us, 0), idle_backoff::rest_ns);
  EXPECT_EQ(r.after(us, 0), us);
}

TEST(idle_backoff, never_shortens_a_pause) {
  rounds r;
  r.after(10 * ms, 0);
  r.after(10 * ms, 500 * ms);
  EXPECT_EQ(r.after(10 * ms, 0), 10 * ms);
}

TEST(idle_backoff, does_not_take_work_or_another_sleep_for_a_lost_processor) {
  rounds r;
  r.after(us, 0);
  r.way.did_something_else();
  EXPECT_EQ(r.after(us, 500 * ms), us);
  EXPECT_EQ(r.after(us, 0), us);
}

}  // namespace
}  // namespace headway::progress::idle_backoff_tests
