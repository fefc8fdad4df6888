#include <gtest/gtest.h>

#include "rails/shm/way_choice.hpp"

namespace headway::rails::shm {
namespace {

using way = way_choice::way;
constexpr std::uint64_t kib = 1024;

/// Chooses `count` times; what goes by buffers takes `buffers_ns`. How many were placed.
int placed(way_choice& c, std::uint64_t bytes, int count, std::uint64_t placing_ns,
           std::uint64_t buffers_ns) {
  int all = 0;
  for (int i = 0; i < count; ++i) {
    const way chosen = c.choose(bytes);
    c.learn(bytes, chosen, chosen == way::placing ? placing_ns : buffers_ns);
    all += chosen == way::placing;
  }
  return all;
}

TEST(shm_way_choice, tries_both_and_stays_with_the_faster) {
  way_choice c;
  EXPECT_EQ(placed(c, 1024 * kib, 8, 50'000, 60'000), 4);
  EXPECT_EQ(placed(c, 1024 * kib, 56, 50'000, 60'000), 56);
  way_choice d;
  EXPECT_EQ(placed(d, 1024 * kib, 8, 60'000, 50'000), 4);
  EXPECT_EQ(placed(d, 1024 * kib, 56, 60'000, 50'000), 0);
}

TEST(shm_way_choice, tries_less_often_if_one_is_clearly_faster) {
  way_choice c;
  EXPECT_EQ(placed(c, 1024 * kib, 8, 50'000, 90'000), 6);
  way_choice d;
  EXPECT_EQ(placed(d, 1024 * kib, 8, 90'000, 50'000), 2);
}

TEST(shm_way_choice, each_size_has_its_own) {
  way_choice c;
  static_cast<void>(placed(c, 128 * kib, 8, 30'000, 10'000));
  static_cast<void>(placed(c, 16'384 * kib, 8, 1'000'000, 2'000'000));
  EXPECT_EQ(placed(c, 128 * kib, 50, 30'000, 10'000), 0);
  EXPECT_EQ(placed(c, 16'384 * kib, 50, 1'000'000, 2'000'000), 50);
}

TEST(shm_way_choice, a_size_starts_with_the_way_that_is_clearly_faster_for_half_of_it) {
  way_choice c;
  static_cast<void>(placed(c, 256 * kib, 8, 20'000, 10'000));
  EXPECT_EQ(placed(c, 512 * kib, 50, 40'000, 20'000), 0);
  EXPECT_GT(placed(c, 512 * kib, 50, 10'000, 20'000), 40);  // from its first trial of placing on
  way_choice d;
  static_cast<void>(placed(d, 256 * kib, 8, 12'000, 10'000));
  EXPECT_EQ(placed(d, 512 * kib, 8, 24'000, 20'000), 4);
}

TEST(shm_way_choice, sees_that_the_slower_became_the_faster) {
  way_choice c;
  static_cast<void>(placed(c, 1024 * kib, 8, 90'000, 50'000));
  static_cast<void>(placed(c, 1024 * kib, 64, 20'000, 50'000));  // one of them is a trial
  EXPECT_GT(placed(c, 1024 * kib, 50, 20'000, 50'000), 45);
}

TEST(shm_way_choice, a_way_that_is_far_slower_is_hardly_tried) {
  way_choice c;
  static_cast<void>(placed(c, 1024 * kib, 8, 500'000, 50'000));
  EXPECT_LE(placed(c, 1024 * kib, 4500, 500'000, 50'000), 10);
  EXPECT_GE(placed(c, 1024 * kib, 4500, 500'000, 50'000), 9);
}

TEST(shm_way_choice, in_time_stops_preferring_a_way_that_was_fast) {
  way_choice c;
  static_cast<void>(placed(c, 1024 * kib, 8, 40'000, 50'000));
  static_cast<void>(placed(c, 1024 * kib, 64, 80'000, 50'000));
  EXPECT_LT(placed(c, 1024 * kib, 50, 80'000, 50'000), 5);
}

TEST(shm_way_choice, a_few_that_were_held_up_change_nothing) {
  way_choice c;
  static_cast<void>(placed(c, 1024 * kib, 8, 40'000, 80'000));
  for (int i = 0; i < 5; ++i) c.learn(1024 * kib, way::placing, 1'000'000'000);
  EXPECT_EQ(placed(c, 1024 * kib, 50, 40'000, 80'000), 50);
}

}  // namespace
}  // namespace headway::rails::shm
