#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/length.hpp"
#include "tests/simulation/world.hpp"

namespace headway::simulation {
namespace {

using headway::testing::whole_or_sanitized;

TEST(simulation, of_one_seed_runs_the_same_way_twice) {
  const auto last = whole_or_sanitized<std::uint64_t>(10, 3);
  for (std::uint64_t seed = 1; seed <= last; ++seed)
    for (const auto of : {scenario::of_seed, scenario::of_seed_windows}) {
      const auto what = of(seed);
      const auto one = simulate(what), two = simulate(what);
      EXPECT_EQ(one.fingerprint, two.fingerprint) << what.text();
      EXPECT_EQ(one.packets, two.packets) << what.text();
      EXPECT_EQ(one.complaint, two.complaint) << what.text();
    }
}

TEST(simulation, keeps_every_invariant_whatever_fails) {
  const auto last = whole_or_sanitized<std::uint64_t>(60, 12);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    const auto what = scenario::of_seed(seed);
    EXPECT_EQ(simulate(what).complaint, "") << what.text();
  }
}

// Queues grow longer, numbers go further, and memory is used again.
TEST(simulation, keeps_every_invariant_in_long_jobs) {
  const auto last = whole_or_sanitized<std::uint64_t>(6, 2);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    const auto what = scenario::of_seed(seed).times(16);
    EXPECT_EQ(simulate(what).complaint, "") << what.text();
  }
}

// Litmus tests of one-sided operations: window_traffic.hpp.
TEST(simulation, keeps_the_orderings_of_one_sided_operations_whatever_fails) {
  const auto last = whole_or_sanitized<std::uint64_t>(60, 12);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    const auto what = scenario::of_seed_windows(seed).times(seed % 10 == 0 ? 8 : 1);
    EXPECT_EQ(simulate(what).complaint, "") << what.text();
  }
}

// Each has found a defect, of the library or of the simulation.
TEST(simulation, keeps_every_invariant_where_it_once_did_not) {
  for (const std::uint64_t seed : {1795725091000001u, 1795725096000028u, 1795725100000039u,
                                   1795725117000221u, 20261127517351u}) {
    const auto what = scenario::of_seed(seed);
    EXPECT_EQ(simulate(what).complaint, "") << what.text();
  }
}

// The same of one-sided operations. A process died whose request came in several packets (the first
// two seeds), or while its target received a large put or sent an answer, whose memory leaked.
TEST(simulation, keeps_the_orderings_of_one_sided_operations_where_it_once_did_not) {
  for (const std::uint64_t seed : {612ul, 3090ul, 1796001070000002ul, 1796001017000002ul}) {
    const auto what = scenario::of_seed_windows(seed);
    EXPECT_EQ(simulate(what).complaint, "") << what.text();
  }
}

// Two processes whose memory was full of messages to each other.
TEST(simulation, end_points_receive_when_all_memory_is_in_messages_to_each_other) {
  const auto what = scenario::of_seed(4500009712).times(64);
  EXPECT_EQ(simulate(what).complaint, "") << what.text();
}

// New seeds: from HEADWAY_SIMULATION_SEED on, else from a number taken from the clock. Each fourth
// job is a long one, and each seed has a job with one-sided operations as well. The work is
// limited by steps, the same on machines of any speed; HEADWAY_SIMULATION_STEPS changes the limit.
TEST(simulation, keeps_every_invariant_of_new_seeds_too) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
  };
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock).count();
  const auto base =
      number("HEADWAY_SIMULATION_SEED", static_cast<std::uint64_t>(seconds) * 1'000'000);
  const auto steps_max = number("HEADWAY_SIMULATION_STEPS", whole_or_sanitized(500'000u, 100'000u));
  constexpr std::uint32_t length = 8;
  fmt::print(
      "new seeds from {} on; one that fails is replayed by simulate --from SEED --seeds 1, "
      "with --length {} if it is so many times as long, with --windows if it has one-sided "
      "episodes\n",
      base, length);
  std::uint64_t steps = 0, seed = base;
  for (; steps < steps_max && !::testing::Test::HasFailure(); ++seed) {
    for (const auto of : {scenario::of_seed, scenario::of_seed_windows}) {
      const auto what = of(seed).times(seed % 4 == 0 ? length : 1);
      const auto result = simulate(what);
      steps += result.steps;
      EXPECT_EQ(result.complaint, "") << what.text();
    }
  }
  fmt::print("{} new seeds, {} steps\n", seed - base, steps);
}

// The whole start of a large job in one thread, an allreduce and random traffic: a table of
// processes each, peers made on first use.
TEST(simulation, of_a_thousand_processes_ends) {
  const scenario what{.seed = 1,
                      .processes = 1000,
                      .rails = 1,
                      .messages = 5000,
                      .bytes_max = 20'000,
                      .collectives = 1,
                      .allreduce_first = true,
                      .first_use = true};
  const auto result = simulate(what);
  EXPECT_EQ(result.complaint, "");
  EXPECT_GE(result.checked, 5000u + 1000u);
}

}  // namespace
}  // namespace headway::simulation
