#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "base/beside.hpp"
#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::size_t payload_bytes = 1 << 20;
constexpr landing_id zone{7};

/// Two ends, of which the second has seen the first one's messages.
struct ends {
  ends() {
    const auto to_sender = sender.open(), to_receiver = receiver.open();
    EXPECT_TRUE(to_sender && to_receiver);
    EXPECT_TRUE(sender.connect(peer_id{1}, *to_receiver));
    EXPECT_TRUE(receiver.connect(peer_id{0}, *to_sender));
    EXPECT_EQ(sender.send(peer_id{1}, {}), post::done);
    std::array<event, 1> first;
    EXPECT_EQ(receiver.reap(first), 1u);
    receiver.release(first[0]);
    EXPECT_TRUE(receiver.land(peer_id{0}, zone, target));
  }
  [[nodiscard]] std::size_t reaped_bytes() {
    std::array<event, 4> events;
    std::size_t bytes = 0;
    const auto count = receiver.reap(events);
    for (std::size_t i = 0; i < count; ++i)
      if (events[i].kind == event_kind::landed) bytes += events[i].count;
    return bytes;
  }
  [[nodiscard]] bool rang() const {
    pollfd bell{.fd = sender.descriptor(), .events = POLLIN, .revents = 0};
    return poll(&bell, 1, 0) == 1;
  }

  const folder where;
  shm_driver sender{config_in(where, 0)}, receiver{config_in(where, 1)};
  std::vector<std::byte> payload = std::vector(payload_bytes, std::byte{3});
  std::vector<std::byte> target = std::vector(payload_bytes, std::byte{});
};

TEST(shm_beside_a_computation, the_sender_sleeps_until_the_peer_has_read_everything) {
  ends both;
  std::jthread([&] {
    base::run_beside_computing();
    ASSERT_EQ(both.sender.send(peer_id{1}, {.payload = both.payload, .landing = zone}),
              post::posted);
    std::array<event, 4> events;
    EXPECT_EQ(both.sender.reap(events), 0u);
    EXPECT_TRUE(both.sender.arm(true));
  }).join();
  for (std::size_t arrived = 0; arrived < payload_bytes;) {
    EXPECT_FALSE(both.rang()) << "it would find nothing to do";
    arrived += both.reaped_bytes();
  }
  EXPECT_TRUE(both.rang());
  EXPECT_EQ(both.target, both.payload);
  std::array<event, 4> events;
  ASSERT_EQ(both.sender.reap(events), 1u);
  EXPECT_EQ(events[0].kind, event_kind::sent);
}

TEST(shm_beside_a_computation, a_sender_that_waits_helps) {
  ends both;
  ASSERT_EQ(both.sender.send(peer_id{1}, {.payload = both.payload, .landing = zone}), post::posted);
  EXPECT_FALSE(both.sender.arm(true)) << "there is something to copy";
  std::array<event, 4> events;
  std::size_t sent = 0;
  for (std::size_t arrived = 0; arrived < payload_bytes || sent == 0;) {
    arrived += both.reaped_bytes();
    sent += both.sender.reap(events);
  }
  EXPECT_EQ(both.target, both.payload);
}

}  // namespace
}  // namespace headway::rails::shm
