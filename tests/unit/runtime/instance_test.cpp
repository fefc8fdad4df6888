// An instance is a value: a process may have several.
#include "runtime/instance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace headway::runtime {
namespace {

std::unique_ptr<instance> start(const settings& how = {}) {
  auto started = instance::start(how);
  EXPECT_TRUE(started) << started.error().text;
  return started ? std::move(*started) : nullptr;
}

/// The message that the only process of a job sends to itself and receives.
int echo(instance& in, int number) {
  auto& messages = in.messages();
  auto* here = messages.open_context(100, 0, processes::consecutive(1));
  int found = -1;
  messages::request receiving, sending;
  messages.receive(*here, receiving, std::as_writable_bytes(std::span(&found, 1)), 0, 7);
  messages.send(*here, sending, std::as_bytes(std::span(&number, 1)), 0, 7);
  in.progress().wait(receiving);
  in.progress().wait(sending);
  messages.close_context(here);
  return found;
}

TEST(instance, two_single_processes_live_in_one_process) {
  const auto one = start(), other = start();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 1);
  EXPECT_EQ(other->rank(), 0);
  EXPECT_NE(one->job().who().job_id, other->job().who().job_id);
  EXPECT_NE(one->job().secret(), other->job().secret());
  EXPECT_NE(&one->progress(), &other->progress());
  EXPECT_EQ(one->node_of(processes::peer_id{0}), 0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(echo(*one, i), i);
    EXPECT_EQ(echo(*other, -i), -i);
  }
  EXPECT_TRUE(one->stop());
  EXPECT_EQ(echo(*other, 77), 77);
  EXPECT_TRUE(other->stop());
}

TEST(instance, two_with_different_clocks_live_in_one_process) {
  const base::atomic<std::uint64_t> still{1'000'000'000};
  const auto one = start(
      {.progress = {.points = progress::polling::off, .waits = progress::waiting_policy::busy},
       .clock = base::clock(still)});
  const auto other = start();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(echo(*one, 1), 1);
  EXPECT_EQ(echo(*other, 2), 2);
  EXPECT_EQ(one->progress().clock().now_ns(), 1'000'000'000u);
  EXPECT_FALSE(other->progress().clock().is_virtual());
  EXPECT_TRUE(one->stop());
  EXPECT_TRUE(other->stop());
}

TEST(instance, one_may_stop_and_another_start_while_a_third_runs) {
  const auto lasting = start();
  ASSERT_TRUE(lasting);
  for (int i = 0; i < 3; ++i) {
    const auto brief = start();
    ASSERT_TRUE(brief);
    EXPECT_TRUE(brief->stop());
  }
  const auto rails = lasting->rails();
  EXPECT_TRUE(std::ranges::any_of(rails, [](const auto& r) { return r.peers == 1; })) << "itself";
  EXPECT_TRUE(lasting->stop());
}

}  // namespace
}  // namespace headway::runtime
