#include "packets/transfer/incoming_flows.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/scheduler.hpp"
#include "packets/stalled_list.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "topology/machine.hpp"

namespace headway::packets::testing::incoming_flows_tests {
namespace {

constexpr rails::peer_id other{1};

/// Calls `meanwhile` while memory is being exposed or withdrawn.
class watched_memory final : public simulation::driver {
 public:
  using driver::driver;
  base::result<rails::ticket> expose(const rails::exposure& what) noexcept override {
    meanwhile();
    return driver::expose(what);
  }
  void withdraw(const rails::ticket& exposed) noexcept override {
    meanwhile();
    driver::withdraw(exposed);
  }

  std::function<void()> meanwhile = [] {};
};

constexpr auto rail_with_stated_latency =
    simulation::bare_ends::immediate_but([](auto& plan) { plan.limits.latency_ns = 1'000; });

/// Keeps the packets that ask the peer for pieces.
struct host final : bundle_host {
  void deliver(std::span<const std::byte>) noexcept override {}
  void broken(const char*) noexcept override {}
  void lose() noexcept override {}
  void send_control(const control& c) noexcept override { sent.push_back(c); }
  void pump() noexcept override {}
  void mark_active() noexcept override {}
  void mark_waiting(bool) noexcept override {}
  bool send_pieces() noexcept override { return true; }
  void drop_pieces() noexcept override {}

  std::vector<control> sent;
};

struct received_message : transfer {
  explicit received_message(std::size_t size) : bytes(size) {
    memory = bytes;
    ended = [](transfer& self, bool sound) noexcept {
      ++static_cast<received_message&>(self).ends;
      static_cast<received_message&>(self).well = sound;
    };
  }
  std::vector<std::byte> bytes;
  int ends = 0;
  bool well = false;
};

class incoming : public ::testing::Test {
 protected:
  static constexpr std::size_t lane_count = 2;

  incoming() {
    for (std::uint32_t i = 0; i < lane_count; ++i) {
      drivers[i] = ends.make_rail<watched_memory>(i);
      EXPECT_TRUE(drivers[i]->connect(other, {}));
      lanes.add(std::make_unique<lane>(
          *drivers[i], i, lane::shared{.load = loads[i], .departures = departures[i]}, set.health,
          [](progress::ltask&) noexcept { return progress::ltask_result::done; }));
    }
  }
  /// All bytes of the piece that this packet has asked for.
  void land(const control& c) {
    ends.put(1, c.target, std::vector<std::byte>(c.target.bytes), c.lane);
    rails::event landed;
    ASSERT_EQ(drivers[c.lane]->reap({&landed, 1}), 1u);
    ASSERT_EQ(landed.kind, rails::event_kind::landed);
    large.landed(landed.cookie, landed.count);
  }
  void land_everything() {
    for (std::size_t i = 0; i < peer.sent.size(); ++i)
      if (const auto c = peer.sent[i]; c.what == control_kind::cts) land(c);
  }
  [[nodiscard]] std::size_t exposed_count() const {
    return drivers[0]->exposed_count() + drivers[1]->exposed_count();
  }

  simulation::bare_ends ends{1, std::vector(lane_count, rail_with_stated_latency)};
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::explicit_}).value();
  rendezvous large{*engine};
  bundle_set set{*engine, large, 1'000'000'000};
  stalled_list stalled{*engine};
  credit_account credits;
  scheduler queue{other, credits, *engine, stalled, *find_strategy("sampled")};
  std::unique_ptr<watched_memory> drivers[lane_count];
  rail_load loads[lane_count];
  rail_departures departures[lane_count];
  lane_set lanes;
  host peer;
  bundle_context context{.host = peer,
                         .to = other,
                         .lanes = lanes,
                         .set = set,
                         .queue = queue,
                         .clock = engine->clock()};
  incoming_flows flows{context};
  received_message message{1 << 20};
};

TEST_F(incoming, exposes_and_withdraws_memory_without_its_lock) {
  using namespace std::chrono_literals;
  int calls = 0, locked = 0;
  for (auto& d : drivers)
    d->meanwhile = [&] {
      ++calls;
      auto look = std::async(std::launch::async, [&] { static_cast<void>(flows.owing_lanes()); });
      locked += look.wait_for(5s) == std::future_status::timeout ? 1 : 0;
    };
  flows.fetch(message);
  land_everything();
  EXPECT_EQ(message.ends, 1);
  EXPECT_TRUE(message.well);
  EXPECT_GT(calls, 2);
  EXPECT_EQ(locked, 0);
  EXPECT_EQ(exposed_count(), 0u);
  EXPECT_EQ(peer.sent.back().what, control_kind::received);
}

TEST_F(incoming, asks_again_on_the_other_rail_for_what_is_lost_while_it_is_being_exposed) {
  bool lost = false;
  drivers[0]->meanwhile = [&] {
    if (std::exchange(lost, true)) return;
    lanes[0].up.store(false, std::memory_order_relaxed);
    flows.retake(lanes[0], base::machine_now_ns());
  };
  flows.fetch(message);
  EXPECT_EQ(drivers[0]->exposed_count(), 0u);
  land_everything();
  EXPECT_TRUE(message.well);
  EXPECT_EQ(exposed_count(), 0u);
  std::uint64_t bytes = 0;
  for (const auto& c : peer.sent) {
    if (c.what != control_kind::cts) continue;
    EXPECT_EQ(c.lane, 1);
    bytes += c.target.bytes;
  }
  EXPECT_EQ(bytes, message.bytes.size());
}

TEST_F(incoming, ends_a_message_whose_peer_is_lost_while_memory_is_being_exposed) {
  bool lost = false;
  drivers[0]->meanwhile = [&] {
    if (std::exchange(lost, true)) return;
    flows.fail();
    EXPECT_EQ(message.ends, 0) << "its memory is still being exposed";
  };
  flows.fetch(message);
  EXPECT_EQ(message.ends, 1);
  EXPECT_FALSE(message.well);
  EXPECT_EQ(exposed_count(), 0u);
  EXPECT_TRUE(peer.sent.empty());
}

TEST_F(incoming, waits_until_a_driver_can_expose_memory) {
  ends.net.refuse_memory(0, true);
  flows.fetch(message);
  EXPECT_TRUE(peer.sent.empty());
  ends.net.refuse_memory(0, false);
  flows.feed_starving(base::machine_now_ns());
  land_everything();
  EXPECT_TRUE(message.well);
}

TEST_F(incoming, brings_every_byte_once_however_often_the_peer_refuses_pieces) {
  std::mt19937 random(1);
  flows.fetch(message);
  std::uint64_t landed = 0;
  for (std::size_t refusals = 0; message.ends == 0;) {
    const auto asked = peer.sent;
    peer.sent.clear();
    ASSERT_FALSE(asked.empty());
    for (const auto& c : asked) {
      if (c.what != control_kind::cts) continue;
      if (refusals < 1'000 && random() % 4 != 0) {
        ++refusals;
        flows.refused({.what = control_kind::refused, .lane = c.lane, .target = c.target});
        lanes[c.lane].avoided_until_ns = 0;
      } else {
        landed += c.target.bytes;
        land(c);
      }
    }
    flows.feed_starving(base::machine_now_ns());
  }
  EXPECT_TRUE(message.well);
  EXPECT_EQ(landed, message.bytes.size());
}

}  // namespace
}  // namespace headway::packets::testing::incoming_flows_tests
