#include "packets/bundle/replay_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>

namespace headway::packets::replay_ring_tests {
namespace {

using ring = basic_replay_ring<std::atomic, 16>;

TEST(replay_ring, keeps_every_frame_whole_until_it_is_acknowledged_and_read) {
  ring r(4096);
  std::mt19937 random(7);
  struct kept {
    std::uint32_t number;
    std::byte fill;
    std::size_t bytes;
    bool held;
  };
  std::deque<kept> alive;
  const auto check = [&] {
    for (const auto& k : alive) {
      const auto& f = r.at(k.number);
      ASSERT_EQ(f.bytes, k.bytes);
      ASSERT_TRUE(std::all_of(f.memory, f.memory + f.bytes, [&](auto b) { return b == k.fill; }));
    }
  };
  for (int step = 0; step < 20'000; ++step) {
    const auto most = 1 + random() % 1500;
    if (auto* memory = r.reserve(most)) {
      const auto bytes = 1 + random() % most;
      const auto fill = static_cast<std::byte>(step);
      std::memset(memory, static_cast<int>(fill), bytes);
      alive.push_back({r.next(), fill, bytes, random() % 3 == 0});
      r.commit(memory, bytes, 1);
      if (alive.back().held) ring::hold(r.at(alive.back().number));
      if (random() % 8 == 0) {  // a rail did not take it
        if (alive.back().held) ring::let_go(r.at(alive.back().number));
        alive.pop_back();
        r.undo();
      }
    }
    check();
    if (alive.empty()) continue;
    if (random() % 2 == 0) {
      ASSERT_TRUE(r.acknowledged(alive[random() % alive.size()].number));
    }
    for (auto& k : alive)
      if (k.held && random() % 4 == 0) {
        ring::let_go(r.at(k.number));
        k.held = false;
      }
    for (auto gone = r.reclaim(); gone > 0; --gone) {
      ASSERT_FALSE(alive.front().held);
      ASSERT_LT(static_cast<std::int32_t>(alive.front().number - r.acknowledged_so_far()), 0);
      alive.pop_front();
    }
    check();
  }
}

TEST(replay_ring, takes_no_acknowledgement_back_and_none_that_cannot_be) {
  ring r(4096);
  for (std::uint32_t i = 0; i < 8; ++i) r.commit(r.reserve(64), 64, 1);
  EXPECT_TRUE(r.acknowledged(5));
  EXPECT_TRUE(r.acknowledged(3));  // overtaken on another rail
  EXPECT_EQ(r.acknowledged_so_far(), 5u);
  EXPECT_FALSE(r.acknowledged(500));
  EXPECT_EQ(r.reclaim(), 5u);
}

TEST(replay_ring, is_full_with_as_many_frames_as_it_has) {
  ring r(4096);
  for (std::uint32_t i = 0; i < 16; ++i) r.commit(r.reserve(64), 64, 1);
  EXPECT_EQ(r.reserve(64), nullptr);
}

}  // namespace
}  // namespace headway::packets::replay_ring_tests
