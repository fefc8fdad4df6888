// An eager message whose bytes arrive in parts, as a rail may deliver one that was sent `in_parts`.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace headway::messages {
namespace {

struct in_parts : ::testing::Test {
  in_parts() {
    peers.add_rail(ends.make_rail(), packets::rail_use::from_start);
    EXPECT_TRUE(peers.use(rails::peer_id{1}));
    all = std::make_unique<exchange>(peers, *engine);
    world = all->open_context(0, 0, processes::consecutive(2));
  }
  ~in_parts() override {
    if (all) all->close_context(world);
  }

  void poll() {
    while (ends.due()) engine->poll();
  }
  void send_part(std::span<const std::byte> part, std::size_t following) {
    ends.send_part(1, part, following);
    poll();
  }
  void lose_sender() {
    ends.net.kill(1, 0);
    poll();
  }
  /// The envelope with the first bytes of a message of that length.
  void begin(std::string_view first, std::size_t length, wire_kind kind = wire_kind::eager) {
    const envelope head{.kind = kind, .source = 1, .tag = 7};
    std::vector<std::byte> packet(sizeof head + first.size());
    std::memcpy(packet.data(), &head, sizeof head);
    std::memcpy(packet.data() + sizeof head, first.data(), first.size());
    send_part(packet, length - first.size());
  }
  void go_on(std::string_view next, std::size_t following) {
    send_part(std::as_bytes(std::span(next)), following);
  }
  void post(std::size_t room) { all->receive(*world, receive, memory_of(room), 1, 7); }
  [[nodiscard]] std::span<std::byte> memory_of(std::size_t room) {
    return std::as_writable_bytes(std::span(memory)).first(room);
  }

  simulation::bare_ends ends;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  packets::peers peers{*engine, rails::peer_id{0}, routes, {.processes = 2}};
  std::unique_ptr<exchange> all;
  context* world = nullptr;
  std::string memory = std::string(32, '-');
  request receive;
};

TEST_F(in_parts, goes_to_its_receive_as_it_comes_and_completes_with_the_last) {
  post(10);
  begin("abc", 10);
  EXPECT_EQ(memory.substr(0, 4), "abc-");
  go_on("defg", 3);
  EXPECT_FALSE(receive.test());
  go_on("hij", 0);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(receive.arrived.bytes, 10u);
  EXPECT_EQ(receive.arrived.source, 1);
  EXPECT_EQ(receive.arrived.tag, 7);
  EXPECT_EQ(receive.arrived.how, outcome::ok);
  EXPECT_EQ(memory.substr(0, 11), "abcdefghij-");
}

TEST_F(in_parts, may_meet_its_receive_when_it_has_begun) {
  begin("abc", 6);
  post(10);
  EXPECT_FALSE(receive.test());
  go_on("def", 0);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(receive.arrived.bytes, 6u);
  EXPECT_EQ(memory.substr(0, 7), "abcdef-");
}

TEST_F(in_parts, waits_for_its_receive_when_it_is_whole) {
  begin("abc", 6);
  arrival found;
  EXPECT_FALSE(all->probe(*world, 1, 7, found));
  go_on("def", 0);
  ASSERT_TRUE(all->probe(*world, 1, 7, found));
  EXPECT_EQ(found.bytes, 6u);
  post(10);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(memory.substr(0, 7), "abcdef-");
}

TEST_F(in_parts, keeps_the_order_of_its_sender) {
  begin("ab", 4);
  go_on("cd", 0);
  begin("ef", 4);
  go_on("gh", 0);
  post(4);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(memory.substr(0, 4), "abcd");
}

TEST_F(in_parts, that_is_too_long_is_truncated_where_the_memory_ends) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{2}, std::size_t{3}, std::size_t{5}}) {
    memory = std::string(32, '-');
    post(room);
    begin("abc", 9);
    go_on("def", 3);
    go_on("ghi", 0);
    ASSERT_TRUE(receive.test());
    EXPECT_EQ(receive.arrived.how, outcome::truncated);
    EXPECT_EQ(receive.arrived.bytes, room);
    EXPECT_EQ(memory.substr(0, 9),
              std::string("abcdefghi").substr(0, room) + std::string(9 - room, '-'));
    receive.reset();
  }
}

// Background threads may rest where nothing is pending: no thread would take the other parts.
TEST_F(in_parts, stays_pending_when_the_receives_posted_with_it_are_over) {
  engine->poll();  // queues that no round has visited count, too
  const auto before = engine->pending();
  request other;
  post(10);
  all->receive(*world, other, {}, 1, 8);
  EXPECT_EQ(engine->pending(), before + 1) << "posted receives of a context count as one";
  begin("abc", 10);
  all->cancel(other);
  EXPECT_EQ(engine->pending(), before + 1);
  go_on("defghij", 0);
  EXPECT_EQ(engine->pending(), before);
}

TEST_F(in_parts, ends_its_receive_with_an_error_if_its_sender_is_lost) {
  post(10);
  begin("abc", 10);
  lose_sender();
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(receive.arrived.how, outcome::peer_lost);
}

TEST_F(in_parts, is_forgotten_if_its_sender_is_lost_before_a_receive) {
  begin("abc", 10);
  lose_sender();
  post(10);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(receive.arrived.how, outcome::peer_lost);
}

TEST_F(in_parts, ends_its_receive_when_the_rails_close) {
  post(10);
  begin("abc", 10);
  all->close_context(world);
  all.reset();
  EXPECT_TRUE(receive.test());
}

TEST_F(in_parts, is_refused_if_it_is_no_eager_message) {
  post(10);
  begin("abcabcabcabcabcabcabcabcabc", 100, wire_kind::request_to_send);
  ASSERT_TRUE(receive.test());
  EXPECT_EQ(receive.arrived.how, outcome::peer_lost);
  go_on("abc", 0);  // of what was refused
}

}  // namespace
}  // namespace headway::messages
