#include "windows/element_runs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "datatypes/build.hpp"

namespace headway::windows {

bool operator==(const element_run& a, const element_run& b) {
  return a.offset == b.offset && a.count == b.count;
}

namespace {

using datatypes::layout;
using datatypes::number;
using run_list = std::vector<element_run>;

run_list runs_of(const layout& type, std::int64_t count, number kind) {
  run_list found;
  for_each_run({.offset = 1000, .count = count, .type = &type}, kind,
               [&](const element_run& run) { found.push_back(run); });
  return found;
}

TEST(element_runs, join_what_lies_in_a_row) {
  EXPECT_EQ(runs_of(layout::of(number::int32), 7, number::int32), (run_list{{1000, 7}}));
  EXPECT_EQ(runs_of(layout::of(number::int32), 7, number::byte), (run_list{{1000, 28}}));
  EXPECT_EQ(runs_of(layout::of(number::int32), 0, number::int32), run_list{});
  const auto strided = datatypes::build_vector(3, 2, 4, layout::of(number::int32)).value();
  EXPECT_EQ(runs_of(*strided, 1, number::int32), (run_list{{1000, 2}, {1016, 2}, {1032, 2}}));
  EXPECT_EQ(runs_of(*strided, 2, number::int32),
            (run_list{{1000, 2}, {1016, 2}, {1032, 4}, {1056, 2}, {1072, 2}}));
}

TEST(element_runs, of_pairs_with_a_gap_begin_at_the_first_part) {
  const auto& pair = layout::of(number::short_int);
  ASSERT_NE(pair.size(), pair.extent());
  EXPECT_EQ(runs_of(pair, 3, number::short_int), (run_list{{1000, 3}}));
  const auto strided = datatypes::build_vector(2, 1, 3, pair).value();
  EXPECT_EQ(runs_of(*strided, 1, number::short_int),
            (run_list{{1000, 1}, {1000 + 3 * pair.extent(), 1}}));
}

TEST(element_runs, are_cut_into_groups_of_limited_size) {
  std::vector<std::pair<std::int64_t, run_list>> groups;
  std::vector<std::int64_t> counts;
  run_cutter cutter(2, 5, 4,
                    [&](std::span<const element_run> some, std::int64_t first, std::int64_t count) {
                      groups.emplace_back(first, run_list(some.begin(), some.end()));
                      counts.push_back(count);
                    });
  cutter.add({0, 7});
  cutter.add({100, 1});
  cutter.add({200, 1});
  cutter.finish();
  cutter.finish();
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0], (std::pair<std::int64_t, run_list>{0, {{0, 5}}}));
  EXPECT_EQ(groups[1], (std::pair<std::int64_t, run_list>{5, {{20, 2}, {100, 1}}}));
  EXPECT_EQ(groups[2], (std::pair<std::int64_t, run_list>{8, {{200, 1}}}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{5, 3, 1}));
}

}  // namespace
}  // namespace headway::windows
