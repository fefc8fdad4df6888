// Which messages that are longer than `eager_bytes_max` go without a rendezvous: those of blocking
// calls, while the rail takes them whole (rails::driver, `takes_whole`).
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace headway::messages {
namespace {

constexpr std::size_t eager_bytes = 4096, whole_bytes = 16384, between = 10'000;

/// Takes packets whole while `room` is above 0, each question counts; notes the last packet.
class roomy final : public simulation::driver {
 public:
  using driver::driver;
  bool takes_whole(rails::peer_id, std::size_t) const noexcept override { return room-- > 0; }
  rails::post send(rails::peer_id to, const rails::packet& what) noexcept override {
    envelope head;
    std::memcpy(static_cast<void*>(&head), what.header.data(), sizeof head);
    kind = head.kind;
    payload_bytes = what.payload.size();
    in_parts = what.in_parts;
    return driver::send(to, what);
  }
  mutable int room = 100;
  wire_kind kind{};
  std::size_t payload_bytes = 0;
  bool in_parts = false;
};

struct messages_sent_whole : ::testing::Test {
  messages_sent_whole() {
    auto made = ends.make_rail<roomy>();
    rail = made.get();
    peers.add_rail(std::move(made), packets::rail_use::from_start);
    all = std::make_unique<exchange>(peers, *engine);
    world = all->open_context(0, 0, processes::consecutive(2));
  }
  ~messages_sent_whole() override { all->close_context(world); }

  void send(std::size_t size, bool blocking = true, send_mode mode = send_mode::standard) {
    request& r = *sent.emplace_back(std::make_unique<request>());
    r.background = !blocking;
    all->send(*world, r, std::span(memory).first(size), 1, 7, mode);
  }
  void expect_whole(std::size_t size) const {
    EXPECT_EQ(rail->kind, wire_kind::eager);
    EXPECT_EQ(rail->payload_bytes, size);
    EXPECT_TRUE(rail->in_parts);
    EXPECT_TRUE(sent.back()->test());
  }
  void expect_rendezvous() const {
    EXPECT_EQ(rail->kind, wire_kind::request_to_send);
    EXPECT_EQ(rail->payload_bytes, 0u);
    EXPECT_FALSE(sent.back()->test());
  }

  simulation::bare_ends ends{1, {simulation::bare_ends::immediate_but([](auto& plan) {
                               plan.limits.eager_bytes_max = eager_bytes;
                               plan.limits.whole_bytes_max = whole_bytes;
                               plan.limits.inline_bytes_max = whole_bytes;
                             })}};
  std::vector<std::byte> memory = std::vector<std::byte>(2 * whole_bytes);
  std::vector<std::unique_ptr<request>> sent;  // some of them never end
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  packets::peers peers{*engine, rails::peer_id{0}, routes, {.processes = 2}};
  roomy* rail = nullptr;
  std::unique_ptr<exchange> all;
  context* world = nullptr;
};

TEST_F(messages_sent_whole, are_those_of_blocking_calls_up_to_the_rails_limit) {
  send(between);
  expect_whole(between);
  send(whole_bytes);
  expect_whole(whole_bytes);
  send(whole_bytes + 1);
  expect_rendezvous();
}

TEST_F(messages_sent_whole, are_none_of_non_blocking_or_synchronous_calls) {
  send(between, false);
  expect_rendezvous();
  send(between, true, send_mode::synchronous);
  expect_rendezvous();
}

TEST_F(messages_sent_whole, need_room_in_the_rail) {
  rail->room = 0;
  send(between);
  expect_rendezvous();
  send(eager_bytes);
  EXPECT_EQ(rail->kind, wire_kind::eager) << "shorter ones do not";
}

TEST_F(messages_sent_whole, need_it_still_when_they_leave) {
  rail->room = 1;  // another thread takes it meanwhile
  send(between);
  expect_rendezvous();
}

}  // namespace
}  // namespace headway::messages
