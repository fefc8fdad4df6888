// Which packets of messages can wait until their receiver polls (rails::packet, `can_wait`): eager
// messages and requests to send between two ranks, as long as the sender has credits enough. What
// ends the wait of a request to send.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace headway::messages {
namespace {

/// Counts packets and notes the last one.
class noting final : public simulation::driver {
 public:
  using driver::driver;
  rails::post send(rails::peer_id to, const rails::packet& what) noexcept override {
    envelope head;
    std::memcpy(static_cast<void*>(&head), what.header.data(), sizeof head);
    kind = head.kind;
    can_wait = what.can_wait;
    ++sent;
    return driver::send(to, what);
  }
  wire_kind kind{};
  bool can_wait = false;
  int sent = 0;
};

struct packets_that_can_wait : ::testing::Test {
  explicit packets_that_can_wait(int ranks_of_node = 1)
      : engine(progress::engine::start(*machine, {.points = progress::polling::off}, ranks_of_node)
                   .value()) {
    auto made = ends.make_rail<noting>();
    rail = made.get();
    peers.add_rail(std::move(made), packets::rail_use::from_start);
    all = std::make_unique<exchange>(peers, *engine);
    between_two = all->open_context(0, 0, processes::consecutive(2));
    of_all = all->open_context(1, 0, processes::consecutive(2), true);
  }
  ~packets_that_can_wait() override {
    all->close_context(of_all);
    all->close_context(between_two);
  }
  void send(context& where, std::size_t size, send_mode mode = send_mode::standard) {
    request& r = *sent.emplace_back(std::make_unique<request>());
    all->send(where, r, std::span(memory).first(size), 1, 7, mode);
  }

  simulation::bare_ends ends{1, {simulation::bare_ends::immediate_but([](auto& plan) {
                               plan.limits.inline_bytes_max = plan.limits.eager_bytes_max;
                               plan.limits.lets_wait = true;
                             })}};
  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  std::vector<std::unique_ptr<request>> sent;  // some of them never end
  std::unique_ptr<topology::machine> machine =
      topology::machine::read({.description = "core:2 pu:1"}).value();
  std::unique_ptr<progress::engine> engine;
  packets::testing::reaches_all routes;
  packets::peers peers{*engine, rails::peer_id{0}, routes, {.processes = 2}};
  noting* rail = nullptr;
  std::unique_ptr<exchange> all;
  context* between_two = nullptr;
  context* of_all = nullptr;
};

TEST_F(packets_that_can_wait, carry_eager_messages_between_two_ranks) {
  send(*between_two, 8);
  EXPECT_EQ(rail->kind, wire_kind::eager);
  EXPECT_TRUE(rail->can_wait);
  send(*of_all, 8);
  EXPECT_EQ(rail->kind, wire_kind::eager);
  EXPECT_FALSE(rail->can_wait) << "the next step of a collective operation depends on it";
}

TEST_F(packets_that_can_wait, announce_messages_between_two_ranks) {
  send(*between_two, 8, send_mode::synchronous);
  EXPECT_EQ(rail->kind, wire_kind::request_to_send);
  EXPECT_TRUE(rail->can_wait);
  send(*of_all, 8, send_mode::synchronous);
  EXPECT_EQ(rail->kind, wire_kind::request_to_send);
  EXPECT_FALSE(rail->can_wait);
}

TEST_F(packets_that_can_wait, are_not_hurried_where_a_processor_is_free) {
  send(*between_two, 8, send_mode::synchronous);
  engine->poll();
  EXPECT_EQ(rail->sent, 1);
}

struct announcements_on_a_full_node : packets_that_can_wait {
  announcements_on_a_full_node() : packets_that_can_wait(2) {}
};

TEST_F(announcements_on_a_full_node, are_hurried_once_when_the_sender_polls) {
  send(*between_two, 8, send_mode::synchronous);
  EXPECT_TRUE(rail->can_wait);
  EXPECT_EQ(rail->sent, 1);
  engine->poll();
  EXPECT_EQ(rail->sent, 2);
  EXPECT_FALSE(rail->can_wait);
  engine->poll();
  EXPECT_EQ(rail->sent, 2);
}

TEST_F(announcements_on_a_full_node, are_hurried_when_the_sender_waits) {
  send(*between_two, 8, send_mode::synchronous);
  progress::completion never;
  EXPECT_FALSE(engine->wait_until(never, engine->clock().now_ns() + 50'000'000));
  EXPECT_EQ(rail->sent, 2);
  EXPECT_FALSE(rail->can_wait);
}

TEST_F(announcements_on_a_full_node, of_collective_operations_need_no_hurry) {
  send(*of_all, 8, send_mode::synchronous);
  engine->poll();
  EXPECT_EQ(rail->sent, 1);
}

TEST_F(announcements_on_a_full_node, leave_eager_messages_alone) {
  send(*between_two, 8);
  engine->poll();
  EXPECT_EQ(rail->sent, 1);
}

TEST_F(packets_that_can_wait, are_sent_with_half_of_the_credits_at_most) {
  const auto send_one = [&] { send(*between_two, memory.size()); };
  std::size_t could = 0, could_not = 0;
  for (send_one(); rail->can_wait; send_one()) ++could;
  for (; rail->kind == wire_kind::eager; send_one()) {
    EXPECT_FALSE(rail->can_wait);
    ++could_not;
  }
  EXPECT_EQ(rail->kind, wire_kind::request_to_send);
  EXPECT_FALSE(rail->can_wait);
  EXPECT_NEAR(static_cast<double>(could), static_cast<double>(could_not), 2);
}

}  // namespace
}  // namespace headway::messages
