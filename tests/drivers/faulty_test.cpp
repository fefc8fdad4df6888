// The fault-injecting driver's faults. That it keeps the contract is tested by the contract suite.
#include <gtest/gtest.h>

#include "rails/self/self_driver.hpp"
#include "tests/drivers/faulty_driver.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

using faulty::faulty_driver;
using faulty::plan;

constexpr peer_id me{0};

struct sick_self {
  explicit sick_self(const plan& p)
      : sick(new faulty_driver(std::make_unique<self::self_driver>(me), p)),
        end(std::unique_ptr<driver>(sick)) {
    const auto address = end->open();
    EXPECT_TRUE(address && end->connect(me, *address));
  }
  ~sick_self() { end->close(); }
  faulty_driver* sick;
  station end;
};

TEST(faulty, same_seed_and_same_calls_give_the_same_faults) {
  const auto answers = [](std::uint64_t seed) {
    sick_self s({.seed = seed, .retry_one_in = 3, .late_one_in = 4});
    std::string said;
    for (int i = 0; i < 200; ++i) {
      said += s.end->send(me, {.header = bytes_of("x")}) == post::retry ? 'r' : '.';
      said += s.end.step() > 0 ? '!' : '.';
    }
    return said;
  };
  EXPECT_EQ(answers(5), answers(5));
  EXPECT_NE(answers(5), answers(6));
  EXPECT_NE(answers(5).find('r'), std::string::npos);
}

TEST(faulty, a_killed_peer_is_lost_once_after_what_came_before) {
  sick_self s({});
  ASSERT_EQ(s.end->send(me, {.header = bytes_of("before")}), post::done);
  while (s.end.received.empty()) s.end.step();
  s.sick->kill(me);
  s.sick->kill(me);
  EXPECT_EQ(s.end->send(me, {.header = bytes_of("after")}), post::down);
  for (int i = 0; i < 20; ++i) s.end.step();
  EXPECT_EQ(s.end.lost, std::vector<peer_id>{me});
  EXPECT_EQ(s.end.received.size(), 1u);
}

TEST(faulty, what_was_posted_to_a_killed_peer_fails) {
  sick_self s({});
  const auto payload = pattern(1'000'000, 1);
  auto target = pattern(1'000'000, 2);
  ASSERT_EQ(put_soon(*s.end, me, {.exposed = show(*s.end, {.bytes = target})}, payload, 4),
            post::posted);
  s.sick->kill(me);
  for (int i = 0; i < 50; ++i) s.end.step();
  EXPECT_EQ(s.end.failed, std::vector<std::uint64_t>{4});
  EXPECT_TRUE(s.end.sent.empty());
}

TEST(faulty, what_a_killed_peer_sent_is_dropped_and_given_back) {
  sick_self s({});
  s.end.keep = true;
  ASSERT_EQ(s.end->send(me, {.header = bytes_of("first")}), post::done);
  while (s.end.kept.empty()) s.end.step();
  ASSERT_EQ(s.end->send(me, {.header = bytes_of("second")}), post::done);
  s.sick->kill(me);
  for (int i = 0; i < 20; ++i) s.end.step();
  EXPECT_EQ(s.end.received.size(), 1u);
  s.end.release_kept();  // the inner driver asserts that all are released in order
}

TEST(faulty, a_plan_that_kills_does_so_in_the_end) {
  sick_self s({.seed = 3, .kill_one_in = 20});
  int sends = 0;
  while (s.end->send(me, {.header = bytes_of("x")}) != post::down && ++sends < 10'000) s.end.step();
  EXPECT_LT(sends, 1000);
  for (int i = 0; i < 20; ++i) s.end.step();
  EXPECT_EQ(s.end.lost.size(), 1u);
}

TEST(faulty, kill_wakes_a_sleeper) {
  sick_self s({});
  ASSERT_TRUE(s.end->arm(true));
  s.sick->kill(me);
  EXPECT_TRUE(readable(s.end->descriptor(), 1000));
  EXPECT_TRUE(s.end->arm(false));
}

}  // namespace
}  // namespace headway::rails::testing
