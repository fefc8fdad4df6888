#include "base/once_a_job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/misspelt_settings.hpp"
#include "base/tunable.hpp"

namespace headway::base {
namespace {

/// The environment of a rank that Headway's mpiexec has started.
class rank_of_a_job : public testing::Test {
 protected:
  rank_of_a_job() { setenv("PMI_JOBID", name_.c_str(), 1); }
  ~rank_of_a_job() override {
    unsetenv("PMI_JOBID");
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      if (entry.path().filename().string().starts_with("headway-" + name_))
        std::filesystem::remove(entry.path());
  }
  static std::string printed(const auto& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }

 private:
  const std::string name_ = fmt::format("hw-test-{}", getpid());
};

TEST_F(rank_of_a_job, the_first_that_says_a_text_is_the_only_one) {
  EXPECT_TRUE(first_of_job("one"));
  EXPECT_FALSE(first_of_job("one"));
  EXPECT_TRUE(first_of_job("another"));
}

TEST_F(rank_of_a_job, a_process_of_another_launcher_always_speaks) {
  setenv("PMI_JOBID", "12345", 1);
  EXPECT_TRUE(first_of_job("one"));
  EXPECT_TRUE(first_of_job("one"));
  unsetenv("PMI_JOBID");
  EXPECT_TRUE(first_of_job("one"));
}

TEST_F(rank_of_a_job, a_misspelt_setting_is_named_once_with_the_nearest) {
  const number_tunable sample{"HEADWAY_TEST_SAMPLE", "", 1, 0, 9, "to be tested"};
  setenv("HEADWAY_TEST_SMAPLE", "1", 1);
  setenv("HEADWAY_A_PROGRAMS_OWN", "1", 1);
  EXPECT_EQ(printed(report_misspelt_settings),
            "headway: HEADWAY_TEST_SMAPLE is no setting: did you mean HEADWAY_TEST_SAMPLE?\n");
  EXPECT_EQ(printed(report_misspelt_settings), "");
  unsetenv("HEADWAY_TEST_SMAPLE");
  unsetenv("HEADWAY_A_PROGRAMS_OWN");
}

TEST_F(rank_of_a_job, a_value_that_makes_no_sense_is_reported_once) {
  setenv("HEADWAY_TEST_ONCE_A_JOB", "x", 1);
  const auto read = [] {
    const number_tunable sample{"HEADWAY_TEST_ONCE_A_JOB", "", 1, 0, 9, "to be tested"};
    EXPECT_EQ(sample.get(), 1);
  };
  EXPECT_NE(printed(read).find("is not understood"), std::string::npos);
  EXPECT_EQ(printed(read), "");
  unsetenv("HEADWAY_TEST_ONCE_A_JOB");
}

}  // namespace
}  // namespace headway::base
