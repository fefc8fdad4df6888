#include "packets/scheduler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "one_peer.hpp"
#include "packets/collected_frame.hpp"
#include "packets/frames.hpp"

namespace headway::packets::testing::scheduler_tests {
namespace {

struct numbers final : receiver {
  void arrived(peer&, std::span<const std::byte> bytes) noexcept override {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data() + sizeof(stream_head), sizeof number);
    all.push_back(number);
  }
  void lost(peer&) noexcept override { ++losses; }
  std::vector<std::uint32_t> all;
  int losses = 0;
};

struct numbered : send_item {
  explicit numbered(std::uint32_t number) {
    const stream_head own{.kind = 1};
    std::memcpy(head.data(), &own, sizeof own);
    std::memcpy(head.data() + sizeof own, &number, sizeof number);
    head_bytes = sizeof own + sizeof number;
    sent = [](send_item& self, bool sound) noexcept {
      ++static_cast<numbered&>(self).ends;
      static_cast<numbered&>(self).well = sound;
    };
  }
  int ends = 0;
  bool well = false;
};

/// The peer sends back what comes to it, as if it were its own.
class one_rail : public one_peer<simulation::driver, numbers> {
 protected:
  explicit one_rail(const settings& chosen = {})
      : one_peer({.rail = simulation::bare_ends::immediate_but([](auto& plan) {
                    plan.limits.inline_bytes_max = plan.limits.eager_bytes_max;
                  }),
                  .chosen = chosen}) {}

  /// So many packets that have to wait; then they may leave.
  void post_while_shut(std::uint32_t count) {
    shut();
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(to().post(items.emplace_back(i)), posted::pending);
    }
    open();
  }
  void poll() {
    for (int i = 0; i < 50; ++i) {
      engine->poll();
      if (echoes) echo();
    }
  }
  /// All packets that have come to the peer.
  std::deque<std::vector<std::byte>>& taken() {
    for (auto& packet : ends.take(1)) taken_.push_back(std::move(packet));
    return taken_;
  }

  bool echoes = true;
  std::deque<numbered> items;

 private:
  void echo() {
    for (const auto& sent = taken(); echoed_ < sent.size(); ++echoed_) ends.send(1, sent[echoed_]);
  }

  std::deque<std::vector<std::byte>> taken_;
  std::size_t echoed_ = 0;
};

TEST_F(one_rail, takes_a_packet_that_nothing_waits_in_front_of_as_it_is) {
  EXPECT_EQ(to().post(items.emplace_back(7u)), posted::done);
  ASSERT_EQ(taken().size(), 1u);
  EXPECT_EQ(taken()[0].size(), items[0].head_bytes);
  EXPECT_EQ(items[0].ends, 0) << "what is done is not told";
}

TEST_F(one_rail, gets_packets_that_have_waited_several_in_one_and_in_order) {
  post_while_shut(20);
  poll();
  EXPECT_EQ(taken().size(), 2u) << "the oldest alone, then a frame of the others";
  ASSERT_EQ(above.all.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(above.all[i], i);
    EXPECT_EQ(items[i].ends, 1);
    EXPECT_TRUE(items[i].well);
  }
}

TEST_F(one_rail, asks_the_strategy_what_leaves_together) {
  to().use(*find_strategy("fifo"));
  post_while_shut(20);
  poll();
  EXPECT_EQ(taken().size(), 20u);
  EXPECT_EQ(above.all.size(), 20u);
}

TEST_F(one_rail, gets_one_packet_where_the_strategy_names_more_than_may_leave) {
  struct greedy final : strategy {
    explicit greedy(std::size_t count) : answer(count) {}
    std::size_t choose(const backlog&, std::uint32_t, std::span<const rail_state>,
                       const frame_room&) const noexcept override {
      return answer;
    }
    std::size_t split(const remainder&, std::span<const rail_state>,
                      std::span<piece>) const noexcept override {
      return 0;
    }
    std::size_t answer;
  };
  for (const std::size_t answer : {std::size_t{11}, std::size_t{257}, SIZE_MAX}) {
    const greedy how{answer};
    to().use(how);
    const auto before = taken().size();
    post_while_shut(10);
    poll();
    EXPECT_EQ(taken().size(), before + 10) << answer;
  }
  EXPECT_EQ(above.all.size(), 30u);
  to().use(*find_strategy("sampled"));
}

TEST_F(one_rail, gets_urgent_packets_first_under_every_strategy) {
  for (const auto& each : known_strategies()) {
    to().use(*each.how);
    above.all.clear();
    items.clear();
    shut();
    for (std::uint32_t i = 0; i < 300; ++i) {
      auto& item = items.emplace_back(i);
      item.urgent = i >= 298;
      ASSERT_EQ(to().post(item), posted::pending);
    }
    open();
    for (int i = 0; i < 10 && above.all.size() < 300; ++i) poll();
    ASSERT_EQ(above.all.size(), 300u) << each.name;
    EXPECT_EQ(above.all[0], 298u) << each.name;
    EXPECT_EQ(above.all[1], 299u) << each.name;
    EXPECT_EQ(above.all[299], 297u) << each.name;
  }
  to().use(*find_strategy("sampled"));
}

TEST_F(one_rail, never_gets_bytes_for_exposed_memory_inside_a_frame) {
  static std::array<std::byte, 16> bytes;
  shut();
  for (std::uint32_t i = 0; i < 9; ++i) {
    auto& item = items.emplace_back(i);
    if (i % 3 == 1) {
      item.head_bytes = 0;
      item.target = {.id = 5, .bytes = bytes.size()};
      item.payload = bytes;
    }
    ASSERT_EQ(to().post(item), posted::pending);
  }
  open();
  poll();
  EXPECT_EQ(ends.net.put_bytes(0), 3 * bytes.size());
  EXPECT_EQ(above.all, (std::vector<std::uint32_t>{0, 2, 3, 5, 6, 8}));
  for (const auto& item : items) EXPECT_EQ(item.ends, 1);
}

TEST_F(one_rail, brings_only_frames_whose_packets_make_sense) {
  post_while_shut(5);
  echoes = false;
  poll();
  ASSERT_EQ(taken().size(), 2u);
  taken()[1].pop_back();
  echoes = true;
  poll();
  EXPECT_EQ(above.losses, 1) << "the peer breaks the protocol";
}

TEST_F(one_rail, ends_what_waits_when_its_peer_is_lost) {
  shut();
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_EQ(to().post(items.emplace_back(i)), posted::pending);
  }
  ends.send(1, std::array<std::byte, 3>{});  // shorter than any head
  poll();
  EXPECT_EQ(above.losses, 1);
  for (const auto& item : items) {
    EXPECT_EQ(item.ends, 1);
    EXPECT_FALSE(item.well);
  }
  EXPECT_EQ(to().post(items.emplace_back(9u)), posted::down);
}

TEST_F(one_rail, takes_a_prompt_packet_only_in_its_turn_and_within_the_credits) {
  const auto post_now = [&](std::uint32_t number, std::uint32_t charge) {
    numbered made(number);
    return to().post_now({.head = std::span(made.head).first(made.head_bytes), .charge = charge});
  };
  const auto all_credits = settings{}.credit_bytes();
  EXPECT_TRUE(post_now(0, all_credits / 2));
  EXPECT_FALSE(post_now(9, all_credits)) << "more than is left";
  shut();
  EXPECT_FALSE(post_now(9, 0)) << "the rail takes nothing";
  ASSERT_EQ(to().post(items.emplace_back(1u)), posted::pending);
  open();
  EXPECT_FALSE(post_now(9, 0)) << "another one waits";
  poll();
  EXPECT_TRUE(post_now(2, all_credits / 2)) << "what was refused took no credits";
  EXPECT_FALSE(post_now(9, 1));
  poll();
  EXPECT_EQ(above.all, (std::vector<std::uint32_t>{0, 1, 2}));
}

/// Packets are collected, and time stands still but for `later`.
class collecting : public one_rail {
 protected:
  collecting() : one_rail({.collect_always = true}) {}
  void post(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(to().post(items.emplace_back(static_cast<std::uint32_t>(items.size()))),
                posted::done);
  }
  void later(std::uint64_t ns) { ends.net.jump(ns); }
  void expect_all_in_order() {
    poll();
    ASSERT_EQ(above.all.size(), items.size());
    for (std::uint32_t i = 0; i < above.all.size(); ++i) EXPECT_EQ(above.all[i], i);
    for (const auto& item : items) EXPECT_EQ(item.ends, 0) << "what is done is not told";
  }
};

TEST_F(collecting, lets_the_first_leave_at_once_and_those_that_follow_closely_together) {
  post(20);
  EXPECT_EQ(taken().size(), collected_frame::run_min);
  expect_all_in_order();
  EXPECT_EQ(taken().size(), collected_frame::run_min + 1);
}

TEST_F(collecting, lets_packets_at_a_distance_leave_at_once) {
  for (int i = 0; i < 10; ++i) {
    post(1);
    EXPECT_EQ(taken().size(), items.size());
    later(collected_frame::gap_ns + 1);
  }
  expect_all_in_order();
}

TEST_F(collecting, sends_a_frame_that_is_full) {
  post(1000);
  const auto bytes = 1000 * room_in_frame(items.front());
  EXPECT_GE(taken().size(), bytes / collected_frame::frame_bytes_max);
  EXPECT_LT(taken().size(), 30u);
  expect_all_in_order();
}

TEST_F(collecting, sends_what_was_collected_before_anything_else) {
  static std::array<std::byte, 3000> large;
  post(5);
  items.emplace_back(static_cast<std::uint32_t>(items.size())).payload = large;
  ASSERT_EQ(to().post(items.back()), posted::done);
  EXPECT_EQ(taken().size(), collected_frame::run_min + 2);
  post(5);
  const auto more = static_cast<std::uint32_t>(items.size());
  items.emplace_back(more);
  EXPECT_FALSE(to().post_now({.head = std::span(items.back().head).first(items.back().head_bytes)}))
      << "not while some are collected";
  ASSERT_EQ(to().post(items.back()), posted::done);
  expect_all_in_order();
}

TEST_F(collecting, leaves_each_packet_alone_under_fifo) {
  to().use(*find_strategy("fifo"));
  post(20);
  EXPECT_EQ(taken().size(), 20u);
  expect_all_in_order();
}

TEST_F(collecting, keeps_order_while_the_rail_takes_nothing) {
  post(5);
  shut();
  poll();
  for (std::uint32_t i = 0; i < 300; ++i)
    ASSERT_NE(to().post(items.emplace_back(static_cast<std::uint32_t>(items.size()))),
              posted::down);
  poll();
  EXPECT_EQ(taken().size(), collected_frame::run_min);
  open();
  poll();
  poll();
  ASSERT_EQ(above.all.size(), items.size());
  for (std::uint32_t i = 0; i < above.all.size(); ++i) EXPECT_EQ(above.all[i], i);
}

TEST_F(collecting, sends_what_is_left_before_the_rails_close) {
  post(5);
  stop();
  EXPECT_EQ(taken().size(), collected_frame::run_min + 1);
}

}  // namespace
}  // namespace headway::packets::testing::scheduler_tests
