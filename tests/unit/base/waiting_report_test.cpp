// A wait is reported after ten seconds and each minute, once.
#include "base/waiting_report.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headway::base {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

TEST(waiting_report, is_due_after_ten_seconds_and_each_minute) {
  waiting_report report;
  std::vector<std::uint64_t> due;
  for (std::uint64_t s = 0; s < 200; ++s)
    if (report.due(s * second_ns)) due.push_back(s);
  EXPECT_EQ(due, (std::vector<std::uint64_t>{10, 60, 120, 180}));
}

TEST(waiting_report, is_due_once_where_looks_are_rare) {
  waiting_report report;
  EXPECT_FALSE(report.said());
  EXPECT_TRUE(report.due(130 * second_ns));
  EXPECT_TRUE(report.said());
  EXPECT_FALSE(report.due(131 * second_ns));
  EXPECT_TRUE(report.due(180 * second_ns));
}

}  // namespace
}  // namespace headway::base
