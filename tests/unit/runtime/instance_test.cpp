// An instance is a value: a process may have several.
#include "runtime/instance.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/free_port.hpp"

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

/// Two processes of one job, by rank, each an instance of this process; null if they do not meet.
std::array<std::unique_ptr<instance>, 2> start_two(const std::string& rails) {
  const std::string file = ::testing::TempDir() + "/two_instances";
  std::ofstream(file) << "address 127.0.0.1:" << headway::testing::free_port()
                      << "\nsecret of two instances in one process\n";
  chmod(file.c_str(), 0600);
  std::array<std::unique_ptr<instance>, 2> both;
  {
    std::vector<std::jthread> threads;
    for (auto& one : both)
      threads.emplace_back(
          [&] { one = start({.launch = {.rendezvous = file}, .rails = {.wanted = rails}}); });
  }
  std::remove(file.c_str());
  if (both[0] && both[0]->rank() == 1) std::swap(both[0], both[1]);
  return both;
}

void exchange_between_two(const std::string& rails) {
  const auto both = start_two(rails);
  ASSERT_TRUE(both[0] && both[1]);
  EXPECT_EQ(both[0]->job().who().job_id, both[1]->job().who().job_id);
  std::vector<int> sent(100'000), found(sent.size());
  std::iota(sent.begin(), sent.end(), 0);
  std::array<messages::context*, 2> here;
  for (int rank = 0; rank < 2; ++rank)
    here[rank] = both[rank]->messages().open_context(100, rank, processes::consecutive(2));
  for (const std::size_t count : {std::size_t{1}, sent.size()}) {
    messages::request sending, receiving;
    both[1]->messages().receive(*here[1], receiving,
                                std::as_writable_bytes(std::span(found).first(count)), 0, 7);
    both[0]->messages().send(*here[0], sending, std::as_bytes(std::span(sent).first(count)), 1, 7);
    both[1]->progress().wait(receiving);
    both[0]->progress().wait(sending);
    EXPECT_EQ(receiving.arrived.how, messages::outcome::ok);
  }
  EXPECT_EQ(found, sent);
  EXPECT_EQ(both[0]->rail_to(processes::peer_id{1}), rails);
  for (int rank = 0; rank < 2; ++rank) both[rank]->messages().close_context(here[rank]);
  std::jthread other([&] { EXPECT_TRUE(both[1]->stop()); });
  EXPECT_TRUE(both[0]->stop());
}

TEST(instance, two_processes_of_one_job_in_one_process_exchange_over_shared_memory) {
  exchange_between_two("shm");
}

TEST(instance, two_processes_of_one_job_in_one_process_exchange_over_tcp) {
  exchange_between_two("tcp:lo");
}

}  // namespace
}  // namespace headway::runtime
