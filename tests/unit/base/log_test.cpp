#include "base/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headway::base {
namespace {

TEST(log, prints_whole_lines_of_warnings_and_worse) {
  ::testing::internal::CaptureStderr();
  log(severity::warning, "{} of {}", 1, 2);
  log(severity::info, "not shown");
  log_line(severity::error, "100 {}%");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "headway: 1 of 2\nheadway: 100 {}%\n");
}

TEST(log, has_the_name_of_the_process_once_it_is_set) {
  log_name("rank 3");
  ::testing::internal::CaptureStderr();
  log(severity::error, "gone");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "headway: rank 3: gone\n");
  log_name("");
}

}  // namespace
}  // namespace headway::base
