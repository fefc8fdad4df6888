#include "progress/background/poll_interval.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.hpp"
#include "progress/background/event_source.hpp"
#include "progress/background/kernel_sleeper.hpp"

namespace headway::progress::poll_interval_tests {
namespace {

using base::ms;
using base::us;

/// A poller's rounds on a virtual clock: each takes a microsecond and the pause after it.
struct rounds {
  explicit rounds(poll_interval::plan how) : of(how) {}
  std::uint64_t after(bool urgent, std::uint64_t shortest_ns) {
    const auto period = of.next_ns(urgent, shortest_ns, [this] { return now; });
    now += us + period;
    return period;
  }
  /// Periods while nothing is urgent, each once.
  std::vector<std::uint64_t> calm_for(std::uint64_t for_ns, std::uint64_t shortest_ns) {
    std::vector<std::uint64_t> seen;
    for (const auto end = now + for_ns; now < end;)
      if (const auto p = after(false, shortest_ns); seen.empty() || seen.back() != p)
        seen.push_back(p);
    return seen;
  }
  poll_interval of;
  std::uint64_t now = ms;
};

TEST(poll_interval, is_the_shortest_period_while_something_moves_or_begins) {
  rounds r({.longest_ns = 100 * us, .slowdown = 2});
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(r.after(true, 10 * us), 10 * us);
}

TEST(poll_interval, grows_by_the_coefficient_each_millisecond_in_which_nothing_is_urgent) {
  rounds r({.longest_ns = 100 * us, .slowdown = 2});
  EXPECT_EQ(r.calm_for(20 * ms, 10 * us),
            (std::vector{10 * us, 20 * us, 40 * us, 80 * us, 100 * us}));
  EXPECT_EQ(r.after(true, 10 * us), 10 * us) << "something began";
  EXPECT_EQ(r.calm_for(ms / 2, 10 * us), (std::vector{10 * us}));
}

TEST(poll_interval, grows_from_yielding_too) {
  rounds r({.longest_ns = 10 * us, .slowdown = 5});
  EXPECT_EQ(r.calm_for(10 * ms, 0), (std::vector<std::uint64_t>{0, 5 * us, 10 * us}));
}

TEST(poll_interval, does_not_change_with_a_coefficient_of_one) {
  rounds r({.longest_ns = 100 * us, .slowdown = 1});
  EXPECT_EQ(r.calm_for(20 * ms, 10 * us), (std::vector{10 * us}));
}

TEST(poll_interval, is_never_below_what_the_drivers_say_and_may_be_above_the_longest) {
  rounds r({.longest_ns = 100 * us, .slowdown = 2});
  EXPECT_EQ(r.calm_for(20 * ms, 300 * us), (std::vector{300 * us}));
  EXPECT_EQ(r.after(false, 400 * us), 400 * us) << "another driver came";
}

/// With a driver that reports its shortest useful pause.
struct hinting_source final : event_source {
  explicit hinting_source(std::uint64_t p) : period_ns(p) {}
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm(wake_for) noexcept override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] std::uint64_t shortest_poll_period_ns() const noexcept override {
    return period_ns;
  }
  std::uint64_t period_ns;
};

TEST(shortest_poll_period, of_all_sources_is_the_least) {
  auto sources = kernel_sleeper::open(ms).value();
  EXPECT_EQ(sources->shortest_period_ns(), 0u) << "no source states a period";
  hinting_source slow(50 * us), quick(5 * us);
  sources->add(slow);
  EXPECT_EQ(sources->shortest_period_ns(), 50 * us);
  sources->add(quick);
  EXPECT_EQ(sources->shortest_period_ns(), 5 * us);
  sources->remove(quick);
  EXPECT_EQ(sources->shortest_period_ns(), 50 * us);
  sources->remove(slow);
  EXPECT_EQ(sources->shortest_period_ns(), 0u);
}

}  // namespace
}  // namespace headway::progress::poll_interval_tests
