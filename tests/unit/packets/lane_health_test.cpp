#include "packets/bundle/lane_health.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace headway::packets::lane_health_tests {
namespace {

using verdict = lane_health::verdict;
using base::ms;
constexpr lane_health::limits quick{.silent_ns = 40 * ms, .answer_ns = 100 * ms};

TEST(lane_health, is_not_asked_while_nothing_is_owed) {
  lane_health h(quick);
  for (std::uint64_t t = 1; t < 100; ++t)
    EXPECT_EQ(h.look(t * 50 * ms, false, 0, 0), verdict::well);
}

TEST(lane_health, is_not_asked_while_it_is_heard) {
  lane_health h(quick);
  for (std::uint64_t t = 1; t < 100; ++t)
    EXPECT_EQ(h.look(t * 50 * ms, true, t * 50 * ms - 10 * ms, 0), verdict::well);
}

TEST(lane_health, is_dead_when_it_does_not_answer_and_another_rail_does) {
  lane_health h(quick);
  EXPECT_EQ(h.look(1000 * ms, true, 0, 0), verdict::well);
  EXPECT_EQ(h.look(1039 * ms, true, 0, 0), verdict::well);
  EXPECT_EQ(h.look(1040 * ms, true, 0, 0), verdict::ask);
  EXPECT_EQ(h.look(1100 * ms, true, 0, 1099 * ms), verdict::well);
  EXPECT_EQ(h.look(1140 * ms, true, 0, 1099 * ms), verdict::dead);
}

TEST(lane_health, is_left_alone_when_the_peer_is_silent_everywhere) {
  lane_health h(quick);
  EXPECT_EQ(h.look(1000 * ms, true, 0, 0), verdict::well);
  EXPECT_EQ(h.look(1050 * ms, true, 0, 1049 * ms), verdict::ask);
  EXPECT_EQ(h.look(1200 * ms, true, 0, 1049 * ms), verdict::ask);
  EXPECT_EQ(h.look(9000 * ms, true, 0, 1049 * ms), verdict::ask);
}

TEST(lane_health, forgets_the_question_when_it_is_answered) {
  lane_health h(quick);
  EXPECT_EQ(h.look(1000 * ms, true, 0, 0), verdict::well);
  EXPECT_EQ(h.look(1050 * ms, true, 0, 0), verdict::ask);
  EXPECT_EQ(h.look(1060 * ms, true, 1055 * ms, 0), verdict::well);
  EXPECT_EQ(h.look(1099 * ms, true, 1055 * ms, 1098 * ms), verdict::well);
  EXPECT_EQ(h.look(1100 * ms, true, 1055 * ms, 1098 * ms), verdict::ask);
}

/// Sends a probe that is answered after so long, and returns the last verdict.
verdict answered_after(lane_health& h, std::uint64_t& now_ns, std::uint64_t after_ns) {
  const auto asked_ns = now_ns += 1000 * ms;
  EXPECT_EQ(h.look(asked_ns - 100 * ms, true, 0, 0), verdict::well);
  EXPECT_EQ(h.look(asked_ns, true, 0, 0), verdict::ask);
  for (now_ns += 10 * ms; now_ns < asked_ns + after_ns; now_ns += 10 * ms)
    if (h.look(now_ns, true, 0, now_ns) == verdict::dead) {
      h.forget();
      return verdict::dead;
    }
  const auto said = h.look(now_ns, true, now_ns, now_ns);
  h.forget();
  return said;
}

TEST(lane_health, gives_a_rail_that_came_back_twice_as_long_until_it_answers_in_time) {
  lane_health h(quick);
  std::uint64_t now_ns = 0;
  EXPECT_EQ(answered_after(h, now_ns, 150 * ms), verdict::dead);
  EXPECT_EQ(answered_after(h, now_ns, 250 * ms), verdict::dead);
  EXPECT_EQ(answered_after(h, now_ns, 350 * ms), verdict::well);
  EXPECT_EQ(answered_after(h, now_ns, 350 * ms), verdict::well);  // late, and yet as patient
  EXPECT_EQ(answered_after(h, now_ns, 50 * ms), verdict::well);
  EXPECT_EQ(answered_after(h, now_ns, 150 * ms), verdict::dead);
}

}  // namespace
}  // namespace headway::packets::lane_health_tests
