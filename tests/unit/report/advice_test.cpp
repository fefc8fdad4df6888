#include <gtest/gtest.h>

#include "report/merge.hpp"
#include "tests/unit/report/parts.hpp"

namespace headway::report {
namespace {

summary quiet_job() { return merge({part_of(0), part_of(1)}, 2); }

TEST(advice, is_three_sentences_whatever_the_job_did) {
  for (const auto& text : quiet_job().advice) EXPECT_FALSE(text.empty());
  EXPECT_EQ(quiet_job().advice.size(), 3u);
  EXPECT_EQ(merge({}, 1).advice.size(), 3u);
}

TEST(advice, begins_with_what_costs_most) {
  auto job = quiet_job();
  job.waits = {{.waiting = 0, .awaited = 1, .late_sender_s = 0.2, .late_receiver_s = 0.5},
               {.waiting = 1, .awaited = 0, .collective_s = 0.3}};
  const auto said = advice_on(job);
  EXPECT_NE(said[0].find("Rank 0 waited 500.00 ms until rank 1"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("300.00 ms for rank 0"), std::string::npos) << said[1];
  EXPECT_NE(said[2].find("Rank 0 waited 200.00 ms for messages of rank 1"), std::string::npos);
}

TEST(advice, says_nothing_of_what_costs_less_than_a_hundredth) {
  auto job = quiet_job();
  job.waits = {{.waiting = 0, .awaited = 1, .late_sender_s = 0.019}};  // of 2 s
  EXPECT_EQ(advice_on(job)[0].find("Rank 0 waited"), std::string::npos);
  job.waits[0].late_sender_s = 0.021;
  EXPECT_NE(advice_on(job)[0].find("Rank 0 waited"), std::string::npos);
}

TEST(advice, tells_what_could_be_hidden_from_what_needs_more_computation) {
  auto job = quiet_job();
  job.overlap = {.operations = 1, .timed = 1, .waited_ns = 500 * ms, .possible_ns = 400 * ms};
  const auto said = advice_on(job);
  EXPECT_NE(said[0].find("Up to 400.00 ms"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("waited for 100.00 ms with no computation"), std::string::npos) << said[1];
}

TEST(advice, counts_small_messages_only_if_they_are_many_and_most) {
  auto job = quiet_job();
  job.sizes_sent.messages[4] = 200'000;
  EXPECT_NE(advice_on(job)[0].find("200000 of 200000 messages"), std::string::npos);
  job.sizes_sent.messages[20] = 300'000;
  EXPECT_EQ(advice_on(job)[0].find("less than 256"), std::string::npos);
}

}  // namespace
}  // namespace headway::report
