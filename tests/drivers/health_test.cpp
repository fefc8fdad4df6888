// The contract of rails/health.hpp, a test per sentence, for every kind of driver that has it.
#include "rails/health.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "world.hpp"

namespace headway::rails::testing {
namespace {

class contract_health : public ::testing::TestWithParam<kind> {
 protected:
  /// Two drivers that have exchanged packets; none if the kind has no health.
  void SetUp() override {
    if (!GetParam().reaches_others) GTEST_SKIP() << "there is no connection";
    both.emplace(GetParam(), 2);
    if (!both->first()->health()) GTEST_SKIP() << "its connections live as long as its peers";
    ASSERT_NE(both->push({.header = bytes_of("hello")}), post::retry);
    ASSERT_TRUE(both->run_until([&] { return both->last().received.size() == 1; }));
  }
  std::optional<world> both;
};

TEST_P(contract_health, sever_ends_in_lost_once_at_both_ends) {
  auto& w = *both;
  w.first()->health()->sever(w.last_id());
  w.first()->health()->sever(w.last_id());
  ASSERT_TRUE(w.run_until([&] { return !w.first().lost.empty() && !w.last().lost.empty(); }));
  for (int i = 0; i < 50; ++i) {
    w.first().step();
    w.last().step();
  }
  EXPECT_EQ(w.first().lost.size(), 1u);
  EXPECT_EQ(w.last().lost.size(), 1u);
  EXPECT_EQ(w.first()->send(w.last_id(), {.header = bytes_of("x")}), post::down);
}

TEST_P(contract_health, revive_at_both_ends_ends_in_restored_and_packets_pass_again) {
  auto& w = *both;
  for (std::size_t round = 1; round <= 2; ++round) {
    w.first()->health()->sever(w.last_id());
    ASSERT_TRUE(w.run_until(
        [&] { return w.first().lost.size() == round && w.last().lost.size() == round; }));
    w.first()->health()->revive(w.last_id());
    w.last()->health()->revive(w.first_id());
    ASSERT_TRUE(w.run_until(
        [&] { return w.first().restored.size() == round && w.last().restored.size() == round; }));
    ASSERT_NE(w.push({.header = bytes_of("again")}), post::down);
    EXPECT_TRUE(w.run_until([&] { return w.last().received.size() == 1 + round; }));
  }
}

TEST_P(contract_health, revive_does_nothing_to_a_peer_that_is_not_lost) {
  auto& w = *both;
  w.first()->health()->revive(w.last_id());
  ASSERT_NE(w.push({.header = bytes_of("more")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 2; }));
  EXPECT_TRUE(w.first().restored.empty());
}

TEST_P(contract_health, operations_of_memory_fail_when_the_connection_is_cut) {
  auto& w = *both;
  if (!w.first()->memory()->limits_to(w.last_id()).get) GTEST_SKIP() << "it has no get";
  std::vector<std::byte> source(1000), got(1000);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  const auto said = w.get({.exposed = shown}, got, 3);  // the last one reaps no more
  w.first()->health()->sever(w.last_id());
  for (int i = 0; i < 10'000 && w.first().lost.empty(); ++i) w.first().step();
  ASSERT_EQ(w.first().lost.size(), 1u);
  EXPECT_EQ(w.first().sent.size() + w.first().failed.size(), said == post::posted ? 1u : 0u);
  w.last()->memory()->withdraw(shown);  // what was asked may not have been read yet
}

TEST_P(contract_health, a_flush_fails_when_the_connection_is_cut) {
  auto& w = *both;
  if (!w.first()->memory()->limits_to(w.last_id()).flush) GTEST_SKIP() << "this rail has no flush";
  auto said = post::retry;
  for (int tries = 0; tries < 1000 && said == post::retry; ++tries)
    said = w.first()->memory()->flush(w.last_id(), 3);  // the last one reaps no more
  ASSERT_EQ(said, post::posted);
  w.first()->health()->sever(w.last_id());
  for (int i = 0; i < 10'000 && w.first().lost.empty(); ++i) w.first().step();
  ASSERT_EQ(w.first().lost.size(), 1u);
  EXPECT_TRUE(w.first().sent.empty());
  EXPECT_EQ(w.first().failed.size(), 1u);
}

TEST_P(contract_health, last_activity_is_recent_after_a_packet_and_unknown_of_other_processes) {
  auto& w = *both;
  EXPECT_GT(w.first()->health()->last_activity_ns(w.last_id()), 0u);
  EXPECT_EQ(w.first()->health()->last_activity_ns(peer_id{1000}), 0u);
}

INSTANTIATE_TEST_SUITE_P(rails, contract_health, ::testing::ValuesIn(kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
