#include "sampling/plausibility.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/result.hpp"

namespace headway::sampling {
namespace {

constexpr plausible_range usual_machine{.empty_ns = 20'000, .bytes_per_ns_max = 20};

doubt judge(std::vector<double> times_ns, std::uint64_t bytes) {
  return read(times_ns, bytes, usual_machine).why;
}

TEST(plausibility, believes_a_quiet_machine_and_takes_the_lower_quartile) {
  std::vector<double> times_ns{21'000, 20'500, 20'600, 20'700, 20'800, 30'000, 20'900, 21'100};
  const auto r = read(times_ns, 8, usual_machine);
  EXPECT_EQ(r.why, doubt::none);
  EXPECT_EQ(r.ns, 20'700);
}

TEST(plausibility, believes_in_interruptions_that_the_lower_quartile_does_not_see) {
  EXPECT_EQ(judge({20'500, 20'600, 4'000'000, 4'000'000}, 8), doubt::none);
}

TEST(plausibility, believes_a_link_of_limited_rate_that_lets_the_first_bytes_pass_at_once) {
  EXPECT_EQ(judge({40'000, 260'000, 262'000, 262'000}, 32'768), doubt::none);
}

TEST(plausibility, doubts_bytes_that_take_no_longer_than_none) {
  EXPECT_EQ(judge({19'000, 19'500, 20'000, 20'000}, 8), doubt::not_above_empty);
  EXPECT_EQ(judge({20'000, 20'000}, 1), doubt::not_above_empty);
}

// Between near cores on a quiet machine all times are the same, if the clock counts by tens.
TEST(plausibility, believes_in_a_few_bytes_that_take_as_long_as_none_as_far_as_the_clock_tells) {
  const auto with_clock = [](std::vector<double> times_ns, std::uint64_t bytes) {
    const plausible_range near_cores{.empty_ns = 210, .bytes_per_ns_max = 20, .clock_ns = 20};
    return read(times_ns, bytes, near_cores).why;
  };
  EXPECT_EQ(with_clock({210, 210, 210, 210}, 4), doubt::none);
  EXPECT_EQ(with_clock({200, 200, 200, 210}, 4), doubt::none);
  EXPECT_EQ(with_clock({180, 180, 180, 210}, 4), doubt::not_above_empty);
  EXPECT_EQ(with_clock({210, 210, 210, 210}, 4096), doubt::above_memory);
}

TEST(plausibility, knows_how_long_a_read_of_the_clock_takes) {
  EXPECT_GT(clock_read_ns(), 0);
  EXPECT_LT(clock_read_ns(), 1e6);
}

TEST(plausibility, doubts_times_most_of_which_are_far_above_the_quickest) {
  EXPECT_EQ(judge({20'500, 1'000'000, 4'000'000, 16'000'000}, 8), doubt::spread);
  EXPECT_EQ(judge({0, 0, 0, 0}, 8), doubt::not_above_empty) << "and a clock that stands still";
}

TEST(plausibility, doubts_a_rate_above_that_of_memory) {
  // What a busy machine kept: 64 MB in a time that is next to nothing, 262 144 000 MB/s.
  EXPECT_EQ(judge({20'256, 20'256, 20'256}, 64 << 20), doubt::above_memory);
  EXPECT_EQ(judge({20'000 + 104'000, 20'000 + 104'000}, 1 << 20), doubt::none) << "10 bytes a ns";
  EXPECT_EQ(judge({20'000 + 40'000, 20'000 + 40'000}, 1 << 20), doubt::above_memory);
}

TEST(plausibility, measures_again_until_it_believes_and_not_for_ever) {
  int measured = 0, prepared = 0;
  const auto by_turn = [&](int sound_at) {
    measured = prepared = 0;
    return read_until_plausible(
        3,
        [&]() -> base::result<reading> {
          return reading{.ns = 1, .why = ++measured < sound_at ? doubt::spread : doubt::none};
        },
        [&](doubt why) -> base::result<> {
          EXPECT_EQ(why, doubt::spread);
          ++prepared;
          return {};
        });
  };
  EXPECT_EQ(by_turn(1)->why, doubt::none);
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(by_turn(3)->why, doubt::none);
  EXPECT_EQ(measured, 3);
  EXPECT_EQ(prepared, 2);
  EXPECT_EQ(by_turn(9)->why, doubt::spread);
  EXPECT_EQ(measured, 3);
}

TEST(plausibility, knows_that_memory_copies_more_than_a_slow_disk_and_less_than_a_petabyte) {
  EXPECT_GT(memory_bytes_per_ns(), 0.01);
  EXPECT_LT(memory_bytes_per_ns(), 1e6);
}

TEST(plausibility, says_why) {
  EXPECT_EQ(text_of(doubt::not_above_empty, 1024), "1024 bytes took no longer than none");
  EXPECT_FALSE(text_of(doubt::spread, 8).empty());
  EXPECT_FALSE(text_of(doubt::above_memory, 8).empty());
}

}  // namespace
}  // namespace headway::sampling
