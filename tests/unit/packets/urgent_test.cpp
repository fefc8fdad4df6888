// Goal:   messages of an urgent context pass those of others that wait for the same rail, small
//         ones and large ones; without it they come in their turn.
// Method: simulated rails that are slow; what was sent before the last message and comes after it
//         is counted.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/packets/traffic.hpp"

namespace headway::packets::testing::urgent_tests {
namespace {

class urgent_messages : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  /// How many of `before` messages on another context are still under way when one on an urgent
  /// context, which was sent last, has come.
  std::ptrdiff_t passed(std::size_t before, std::size_t bytes_before, std::size_t bytes,
                        bool urgent) {
    simulation::job job(
        {.rails = GetParam(),
         .rail =
             {.latency_ns = 1'000, .jitter_ns = 0, .bytes_per_us = 100, .flight_bytes_max = 16384},
         .difficulty = {.retry_one_in = 0, .posted_one_in = 1, .refuse_one_in = 0}});
    traffic first(job, 0, 1, 3);
    traffic last(job, 0, 1, 5);
    messages::exchange::set_urgent(*last.from, urgent);
    messages::exchange::set_urgent(*last.to, urgent);
    EXPECT_EQ(messages::exchange::is_urgent(*last.from), urgent);
    for (std::size_t i = 0; i < before; ++i) first.add(bytes_before);
    last.add(bytes);
    EXPECT_TRUE(job.run_until([&] { return last.all[0].receive.test(); }));
    const auto waiting = std::ranges::count_if(
        first.all, [](const traffic::message& m) { return !m.receive.test(); });
    EXPECT_TRUE(job.run_until([&] { return first.done() && last.done(); }));
    first.check();
    last.check();
    return waiting;
  }
};

TEST_P(urgent_messages, pass_small_ones_that_wait) {
  EXPECT_GE(passed(300, 1000, 100, true), 100);
  EXPECT_LT(passed(300, 1000, 100, false), 50);
}

TEST_P(urgent_messages, pass_large_ones_between_their_parts) {
  EXPECT_GE(passed(6, 1 << 20, 1 << 20, true), 3);
  EXPECT_LE(passed(6, 1 << 20, 1 << 20, false), 2);
}

TEST_P(urgent_messages, never_pass_those_of_their_own_context) {
  simulation::job job({.rails = GetParam(),
                       .rail = {.latency_ns = 1'000,
                                .jitter_ns = 0,
                                .bytes_per_us = 100,
                                .flight_bytes_max = 16384},
                       .difficulty = {.retry_one_in = 0, .posted_one_in = 1, .refuse_one_in = 0}});
  traffic all(job, 0, 1, 3);
  for (std::size_t i = 0; i < 300; ++i) {
    messages::exchange::set_urgent(*all.from, i % 7 < 2);
    all.add(1000);
  }
  EXPECT_TRUE(job.run_until([&] { return all.done(); }));
  all.check();  // all have one tag
}

INSTANTIATE_TEST_SUITE_P(rails, urgent_messages, ::testing::Values(1u, 2u));

}  // namespace
}  // namespace headway::packets::testing::urgent_tests
