#include "endpoints/wire/preposted_zones.hpp"

#include <cstddef>
#include <vector>

#include "messages/wire.hpp"
#include "two_processes.hpp"

namespace headway::endpoints::preposted_zones_tests {
namespace {

using kinds = std::vector<wire_kind>;
using testing::two_processes;

constexpr std::size_t large = 100'000;

/// The kinds of packets that process 0 sends for a message, all of which arrives.
kinds sent_for(two_processes& p, std::uint32_t number, std::size_t bytes) {
  p.sent().clear();
  EXPECT_EQ(p.send(number, bytes), outcome::ok);
  p.settle();
  p.expect(number, bytes);
  const auto seen = p.sent();
  p.expect_nothing();  // a wait for more: if a zone is due, it is opened
  p.settle();
  return seen;
}
// The first is of end-points, the second of `messages`.
const kinds asked{wire_kind::announced,
                  static_cast<wire_kind>(messages::wire_kind::request_to_send)};
const kinds unasked{wire_kind::announced};

TEST(preposted_zones, a_large_message_after_another_is_sent_without_a_rendezvous) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  for (std::uint32_t i = 1; i < 20; ++i) EXPECT_EQ(sent_for(p, i, large), unasked);
  EXPECT_EQ(p.job().net().put_bytes(0), 20 * large);
}

TEST(preposted_zones, a_message_arrives_in_a_zone_though_its_sender_polls_no_more) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.expect(1, large);
}

TEST(preposted_zones, bytes_may_arrive_before_their_announcement) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  p.job().net().puts_overtake = true;
  for (std::uint32_t i = 1; i < 5; ++i) {
    const std::size_t bytes = i % 2 ? large : std::size_t{1} << 17;  // all that the zone holds
    EXPECT_EQ(sent_for(p, i, bytes), unasked);
  }
}

TEST(preposted_zones, one_is_open_for_a_process_and_later_messages_use_a_rendezvous) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  p.expect_nothing();  // the wait for more opens it
  p.settle();
  EXPECT_EQ(p.exposed_count(1), 1u);
  p.sent().clear();
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(p.send(i, large), outcome::ok);
  EXPECT_EQ(p.sent(), (kinds{asked[0], asked[0], asked[1], asked[0], asked[1]}));
  p.settle();
  for (std::uint32_t i = 0; i < 3; ++i) p.expect(i, large);
}

TEST(preposted_zones, lie_in_the_buffer_that_was_released_last) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  const auto before = p.at(1).bytes_taken();
  for (std::uint32_t i = 1; i < 50; ++i) EXPECT_EQ(sent_for(p, i, large), unasked);
  EXPECT_EQ(p.at(1).bytes_taken(), before);
}

TEST(preposted_zones, messages_keep_their_order_by_rendezvous_or_zone) {
  two_processes p;
  std::uint32_t number = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 5; ++i)
      sizes.push_back(std::size_t{8} << (7 * round + 3 * i) % 18);  // 8 bytes to 1 MiB
    for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(p.send(number + i, sizes[i]), outcome::ok);
    p.settle();
    for (std::uint32_t i = 0; i < 5; ++i) p.expect(number + i, sizes[i]);
    number += 5;
  }
}

TEST(preposted_zones, one_that_does_not_suit_is_replaced) {
  two_processes p;
  for (const std::size_t bytes : {large, 16 * large, large / 2}) {
    EXPECT_EQ(sent_for(p, 1, bytes), asked);
    EXPECT_EQ(sent_for(p, 2, bytes), unasked);
    EXPECT_EQ(p.exposed_count(1), 1u);
  }
}

TEST(preposted_zones, a_message_above_the_limit_uses_a_rendezvous_and_opens_none) {
  two_processes p;
  constexpr std::size_t above = (std::size_t{4} << 20) + 1;
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(sent_for(p, i, above), asked);
  EXPECT_EQ(p.exposed_count(1), 0u);
}

TEST(preposted_zones, without_memory_to_expose_messages_use_a_rendezvous) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  EXPECT_EQ(sent_for(p, 1, large), unasked);
  p.job().net().refuse_memory(1, true);
  EXPECT_EQ(sent_for(p, 2, large), unasked);  // its zone was open
  ASSERT_EQ(p.send(3, large), outcome::ok);
  p.settle();
  p.job().net().refuse_memory(1, false);
  p.settle();
  p.expect(3, large);
}

TEST(preposted_zones, memory_does_not_grow_with_messages) {
  two_processes p;
  for (std::uint32_t i = 0; i < 10; ++i) static_cast<void>(sent_for(p, i, large));
  const auto before = p.at(1).bytes_taken();
  for (std::uint32_t i = 0; i < 200; ++i) static_cast<void>(sent_for(p, i, large));
  EXPECT_EQ(p.at(1).bytes_taken(), before);
}

TEST(preposted_zones, one_is_free_again_when_its_message_is_for_a_closed_end_point) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  EXPECT_EQ(p.at(1).close(p.id()), outcome::ok);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.settle();
  EXPECT_EQ(p.exposed_count(1), 0u);
  EXPECT_EQ(p.send(2, large), outcome::gone);
}

TEST(preposted_zones, are_closed_when_their_process_leaves) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  EXPECT_EQ(p.exposed_count(1), 1u);
  p.at(1).stop();
  EXPECT_EQ(p.exposed_count(1), 0u);
}

TEST(preposted_zones, are_closed_when_their_process_leaves_while_something_is_under_way) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.at(1).stop();
  p.settle();
  EXPECT_EQ(p.exposed_count(1), 0u);
}

TEST(preposted_zones, of_a_lost_process_are_closed_and_its_announced_messages_dropped) {
  two_processes p;
  EXPECT_EQ(sent_for(p, 0, large), asked);
  p.job().net().set_rate(0, 1);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.deliver();                        // of its announcement
  p.expect_nothing();                 // it waits for its bytes
  EXPECT_EQ(p.exposed_count(1), 2u);  // one in use, one for the next
  p.job().net().kill_machine(0, 0);
  p.settle();
  EXPECT_EQ(p.exposed_count(1), 0u);
  p.expect_nothing();
}

}  // namespace
}  // namespace headway::endpoints::preposted_zones_tests
