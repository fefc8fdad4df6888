// Packets that can wait (rails::packet, `can_wait`) in the two drivers that let them wait: a reaper
// that sleeps `arm_for_hurried` is rung for the others only, and when there is no room any more.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <memory>
#include <vector>

#include "rails/self/self_driver.hpp"
#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"

namespace headway::rails {
namespace {

constexpr packet later{.can_wait = true};
constexpr packet now{};

[[nodiscard]] bool rings(const driver& end) {
  pollfd bell{.fd = end.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&bell, 1, 0) == 1;
}

[[nodiscard]] std::size_t reap(driver& end) {
  std::array<event, 4> events;
  const auto count = end.reap(events);
  for (std::size_t i = 0; i < count; ++i) end.release(events[i]);
  return count;
}

void reap_all(driver& end) {
  while (reap(end) > 0) {
  }
}

/// Two ends, of which the second has seen the first one's messages.
struct shm_packets : ::testing::Test {
  shm_packets() {
    const auto to_sender = sender.open(), to_receiver = receiver.open();
    EXPECT_TRUE(to_sender && to_receiver);
    EXPECT_TRUE(sender.connect(peer_id{1}, *to_receiver));
    EXPECT_TRUE(receiver.connect(peer_id{0}, *to_sender));
    EXPECT_EQ(send(now), post::done);
    EXPECT_EQ(reap(receiver), 1u);
  }
  [[nodiscard]] post send(const packet& what) { return sender.send(peer_id{1}, what); }

  const shm::folder where;
  shm::shm_driver sender{shm::config_in(where, 0)}, receiver{shm::config_in(where, 1)};
};

TEST_F(shm_packets, ring_only_if_they_cannot_wait) {
  ASSERT_TRUE(receiver.arm_for_hurried());
  EXPECT_EQ(send(later), post::done);
  EXPECT_FALSE(rings(receiver));
  EXPECT_EQ(send(now), post::done);
  EXPECT_TRUE(rings(receiver));
  EXPECT_EQ(reap(receiver), 2u);
}

TEST_F(shm_packets, that_can_wait_ring_for_a_sleep_that_all_end) {
  ASSERT_TRUE(receiver.arm_for_hurried());
  ASSERT_TRUE(receiver.arm(false));
  ASSERT_TRUE(receiver.arm(true));
  EXPECT_EQ(send(later), post::done);
  EXPECT_TRUE(rings(receiver));
}

TEST_F(shm_packets, that_can_wait_let_a_receiver_sleep) {
  EXPECT_EQ(send(later), post::done);
  EXPECT_FALSE(receiver.arm(true));
  EXPECT_TRUE(receiver.arm_for_hurried());
  EXPECT_TRUE(receiver.arm(false));
  EXPECT_EQ(send(now), post::done);
  EXPECT_EQ(send(later), post::done);
  EXPECT_FALSE(receiver.arm_for_hurried()) << "the second one cannot wait";
  reap_all(receiver);
  EXPECT_EQ(send(later), post::done);
  EXPECT_TRUE(receiver.arm_for_hurried()) << "the one that could not has been read";
}

TEST_F(shm_packets, cannot_wait_any_longer_when_they_fill_the_ring) {
  ASSERT_TRUE(receiver.arm_for_hurried());
  const std::vector<std::byte> bytes(4096);
  packet large = later;
  large.payload = bytes;
  while (send(large) == post::done) EXPECT_FALSE(rings(receiver));
  EXPECT_TRUE(rings(receiver));
  EXPECT_TRUE(receiver.arm(false));
  EXPECT_FALSE(receiver.arm_for_hurried());
  reap_all(receiver);
  EXPECT_EQ(send(later), post::done);
  EXPECT_TRUE(receiver.arm_for_hurried());
}

TEST_F(shm_packets, that_can_wait_do_so_in_parts_too) {
  ASSERT_TRUE(receiver.arm_for_hurried());
  const std::vector<std::byte> bytes(32 * 1024);
  packet large = later;
  large.payload = bytes;
  large.in_parts = true;
  EXPECT_EQ(send(large), post::done);
  EXPECT_FALSE(rings(receiver));
  large.can_wait = false;
  EXPECT_EQ(send(large), post::done);
  EXPECT_TRUE(rings(receiver));
}

struct packets_to_itself : ::testing::Test {
  packets_to_itself() { EXPECT_TRUE(end.open()); }
  [[nodiscard]] post send(const packet& what) { return end.send(peer_id{0}, what); }
  self::self_driver end{peer_id{0}};
};

TEST_F(packets_to_itself, can_wait) {
  ASSERT_TRUE(end.arm_for_hurried());
  EXPECT_EQ(send(now), post::done);
  EXPECT_FALSE(rings(end));
  EXPECT_TRUE(end.arm_for_hurried());
  EXPECT_FALSE(end.arm(true));
}

TEST_F(packets_to_itself, cannot_wait_when_there_is_no_room) {
  ASSERT_TRUE(end.arm_for_hurried());
  while (send(later) == post::done) EXPECT_FALSE(rings(end));
  EXPECT_TRUE(rings(end));
  EXPECT_FALSE(end.arm_for_hurried());
  reap_all(end);
  EXPECT_TRUE(end.arm_for_hurried());
  EXPECT_FALSE(rings(end)) << "the earlier ring is drained";
}

TEST_F(packets_to_itself, ring_for_a_sleep_that_all_end) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(end.arm(true));
    EXPECT_FALSE(rings(end));
    EXPECT_EQ(send(later), post::done);
    EXPECT_TRUE(rings(end));
    reap_all(end);
  }
}

}  // namespace
}  // namespace headway::rails
