#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <vector>

#include "base/thread_role.hpp"
#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::size_t payload_bytes = 1 << 20;

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
    zone = receiver.memory()->expose({.bytes = target}).value();
  }
  [[nodiscard]] std::size_t reaped_bytes() {
    std::array<event, 4> events;
    std::size_t bytes = 0;
    const auto count = receiver.reap(events);
    for (std::size_t i = 0; i < count; ++i)
      if (events[i].kind == event_kind::landed) bytes += events[i].count;
    return bytes;
  }
  [[nodiscard]] static bool rang(const shm_driver& end) {
    pollfd bell{.fd = end.descriptor(), .events = POLLIN, .revents = 0};
    return poll(&bell, 1, 0) == 1;
  }

  /// Puts the payload there.
  [[nodiscard]] post put(const ticket& to) {
    return sender.memory()->put(peer_id{1}, {.exposed = to}, payload, 0);
  }

  const folder where;
  ticket zone;
  shm_driver sender{config_in(where, 0)}, receiver{config_in(where, 1)};
  std::vector<std::byte> payload = std::vector(payload_bytes, std::byte{3});
  std::vector<std::byte> target = std::vector(payload_bytes, std::byte{});
};

TEST(shm_beside_a_computation, the_sender_sleeps_until_the_peer_has_read_everything) {
  ends both;
  std::jthread([&] {
    base::enter_background();
    ASSERT_EQ(both.put(both.zone), post::posted);
    std::array<event, 4> events;
    EXPECT_EQ(both.sender.reap(events), 0u);
    EXPECT_TRUE(both.sender.arm(true));
  }).join();
  for (std::size_t arrived = 0; arrived < payload_bytes;) {
    EXPECT_FALSE(ends::rang(both.sender)) << "it would find nothing to do";
    arrived += both.reaped_bytes();
  }
  EXPECT_TRUE(ends::rang(both.sender));
  EXPECT_EQ(both.target, both.payload);
  std::array<event, 4> events;
  ASSERT_EQ(both.sender.reap(events), 1u);
  EXPECT_EQ(events[0].kind, event_kind::sent);
}

TEST(shm_beside_a_computation, a_sender_that_waits_helps) {
  ends both;
  ASSERT_EQ(both.put(both.zone), post::posted);
  EXPECT_FALSE(both.sender.arm(true)) << "there is something to copy";
  std::array<event, 4> events;
  std::size_t sent = 0;
  for (std::size_t arrived = 0; arrived < payload_bytes || sent == 0;) {
    arrived += both.reaped_bytes();
    sent += both.sender.reap(events);
  }
  EXPECT_EQ(both.target, both.payload);
}

/// A thread of the receiver that works in the background sees the announcement, and goes to sleep.
/// The bytes that it copied: those that the sender had put into buffers before it got the target.
std::size_t look_in_the_background(ends& both) {
  std::size_t taken = 0;
  std::jthread([&] {
    base::enter_background();
    taken = both.reaped_bytes();
    EXPECT_LT(taken, payload_bytes / 2) << "who sends has time";
    EXPECT_EQ(both.reaped_bytes(), 0u);
    EXPECT_TRUE(both.receiver.arm(true));
  }).join();
  return taken;
}

TEST(shm_beside_a_computation, the_receiver_sleeps_until_the_sender_has_written_everything) {
  ends both;
  const base::waiting_thread_scope has_time;
  ASSERT_EQ(both.put(both.zone), post::posted);
  std::size_t arrived = look_in_the_background(both);
  EXPECT_FALSE(ends::rang(both.receiver));
  std::array<event, 4> events;
  ASSERT_EQ(both.sender.reap(events), 1u);
  EXPECT_EQ(events[0].kind, event_kind::sent);
  EXPECT_TRUE(ends::rang(both.receiver));
  arrived += both.reaped_bytes();
  EXPECT_EQ(arrived, payload_bytes);
  EXPECT_EQ(both.target, both.payload);
}

TEST(shm_beside_a_computation, a_receiver_that_waits_after_all_helps) {
  ends both;
  const base::waiting_thread_scope has_time;
  ASSERT_EQ(both.put(both.zone), post::posted);
  std::size_t arrived = look_in_the_background(both);
  const std::size_t read = both.reaped_bytes();
  EXPECT_GT(read, 0u) << "by itself";
  arrived += read;
  std::array<event, 4> events;
  for (std::size_t sent = 0; arrived < payload_bytes || sent == 0;) {
    sent += both.sender.reap(events);
    arrived += both.reaped_bytes();
  }
  EXPECT_EQ(both.target, both.payload);
}

TEST(shm_beside_a_computation, the_receiver_reads_what_the_sender_may_not_write) {
  ends both;
  const base::waiting_thread_scope has_time;
  void* const memory =
      mmap(nullptr, payload_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span guarded(static_cast<std::byte*>(memory), payload_bytes);
  const auto guard_end = [end = guarded.last(payload_bytes / 4)](int protection) {
    ASSERT_EQ(mprotect(end.data(), end.size(), protection), 0);
  };
  guard_end(PROT_READ);
  const ticket guarded_zone = both.receiver.memory()->expose({.bytes = guarded}).value();
  ASSERT_EQ(both.put(guarded_zone), post::posted);
  std::size_t arrived = look_in_the_background(both);
  std::array<event, 4> events;
  EXPECT_EQ(both.sender.reap(events), 0u);
  EXPECT_TRUE(ends::rang(both.receiver)) << "nobody would copy";
  guard_end(PROT_READ | PROT_WRITE);
  std::jthread([&] {
    base::enter_background();
    for (std::size_t sent = 0; arrived < payload_bytes || sent == 0;) {
      arrived += both.reaped_bytes();
      sent += both.sender.reap(events);
    }
  }).join();
  EXPECT_TRUE(std::ranges::equal(guarded, both.payload));
  munmap(memory, payload_bytes);
}

}  // namespace
}  // namespace headway::rails::shm
