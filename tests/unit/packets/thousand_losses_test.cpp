// Goal:   a thousand times a rail is cut or falls silent, and returns, while all are slow at
//         times, under random traffic in both directions: nothing is lost, doubled or reordered.
// Method: real connections on loopback, three of them, each end wrapped by the faulty driver; one
//         tag for all messages, so that what is overtaken, doubled or missing shows in the next.
// Seed:   the test's parameter.
#include <gtest/gtest.h>

#include "tcp_world.hpp"
#include "tests/length.hpp"

namespace headway::packets::testing {
namespace {

class thousand_losses : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(thousand_losses, lose_double_and_reorder_nothing) {
  const auto losses_of_a_seed = headway::testing::whole_or_sanitized<std::uint64_t>(500, 50);
  world w({.seed = GetParam(),
           .retry_one_in = 9,
           .late_one_in = 30,
           .late_reaps_max = 200,
           .posted_one_in = 5,
           .cut_one_in = 40,
           .mute_one_in = 8000});
  const auto counts = [&](std::size_t i) -> const statistics& { return w.all[i].peers->counts(); };
  const auto losses = [&] { return counts(0).rail_losses.load() + counts(1).rail_losses.load(); };
  for (std::uint32_t batch = 0; losses() < losses_of_a_seed; ++batch) {
    exchange_messages(w, GetParam() * 1000 + batch, 60);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(counts(0).replays.load() + counts(1).replays.load(), 0u);
  EXPECT_GT(counts(0).rail_returns.load() + counts(1).rail_returns.load(), losses_of_a_seed / 2);
}

INSTANTIATE_TEST_SUITE_P(seeds, thousand_losses, ::testing::Range(1u, 3u));

}  // namespace
}  // namespace headway::packets::testing
