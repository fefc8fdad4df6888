#include "mpi/partitioned/tag_ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace headway::mpi {
namespace {

constexpr auto all = messages::partition_tags.size();

TEST(tag_ranges, gives_a_range_again_as_late_as_possible) {
  tag_ranges tags;
  const int first = tags.take(10).value();
  EXPECT_EQ(first, messages::partition_tags.first);
  tags.give_back(first);
  const int second = tags.take(all - 10).value();
  EXPECT_EQ(second, first + 10);
  EXPECT_EQ(tags.take(10), first);
}

TEST(tag_ranges, gives_none_that_overlaps_another) {
  tag_ranges tags;
  constexpr auto quarter = all / 4;
  std::vector<int> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(tags.take(quarter).value());
  EXPECT_FALSE(tags.take(quarter)) << "all are taken";
  tags.give_back(taken[2]);
  EXPECT_FALSE(tags.take(quarter + 1));
  EXPECT_EQ(tags.take(quarter), taken[2]);
  EXPECT_FALSE(tags.take(all + 1));
}

TEST(tag_ranges, stay_apart_whatever_is_taken_and_given_back) {
  tag_ranges tags;
  std::mt19937 random(7);
  struct range {
    int first;
    std::uint32_t count;
  };
  std::vector<range> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto which = random() % taken.size();
      tags.give_back(taken[which].first);
      taken[which] = taken.back();
      taken.pop_back();
      continue;
    }
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % (all / 50));
    const auto first = tags.take(count);
    if (!first) continue;
    ASSERT_GE(*first, messages::partition_tags.first);
    ASSERT_LE(*first + static_cast<std::int64_t>(count) - 1, messages::partition_tags.last);
    for (const auto& other : taken) {
      ASSERT_TRUE(*first + std::int64_t{count} <= other.first ||
                  other.first + std::int64_t{other.count} <= *first);
    }
    taken.push_back({*first, count});
  }
}

}  // namespace
}  // namespace headway::mpi
