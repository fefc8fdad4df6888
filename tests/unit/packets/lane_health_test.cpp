#include "packets/bundle/lane_health.hpp"

#include <gtest/gtest.h>

namespace headway::packets {
namespace {

using verdict = lane_health::verdict;
constexpr std::uint64_t ms = 1'000'000;
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

}  // namespace
}  // namespace headway::packets
