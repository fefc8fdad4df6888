// The contract of rails/driver.hpp, a test per sentence, for every kind of driver in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "tests/length.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

/// One world of each kind for a test; `self`, which reaches no other process, is both ends.
class contract : public ::testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] world make_world() const {
    return world(GetParam(), GetParam().reaches_others ? 2 : 1);
  }
};

TEST_P(contract, limits_promise_a_header_of_64_bytes_and_a_name) {
  auto w = make_world();
  const limits l = w.first()->query();
  EXPECT_STRNE(l.name, "");
  EXPECT_GE(l.header_bytes_max, 64u);
  EXPECT_GE(l.eager_bytes_max, l.inline_bytes_max);
  EXPECT_EQ(l.wakes, w.first()->descriptor() >= 0);
}

TEST_P(contract, reap_on_an_idle_rail_reports_nothing) {
  auto w = make_world();
  EXPECT_TRUE(w.run_until([] { return true; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(w.last().step(), 0u);
}

TEST_P(contract, a_packet_arrives_whole_with_its_sender_header_then_payload) {
  auto w = make_world();
  ASSERT_NE(w.push({.header = bytes_of("header "), .payload = bytes_of("payload")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  EXPECT_EQ(w.last().received.front(), "header payload");
  EXPECT_EQ(w.last().received_from.front(), w.first_id());
}

TEST_P(contract, every_size_of_header_and_payload_arrives_whole_and_aligned) {
  auto w = make_world();
  const limits l = w.first()->query();
  std::vector<std::size_t> payloads{0, 1, 7, 8, 9, 24, 25, 63, 64, 65, 127, 1000, 4095, 4096};
  payloads.push_back(l.eager_bytes_max);
  w.last().keep = true;
  unsigned seed = 1;
  for (const std::size_t header :
       {std::size_t{0}, std::size_t{1}, std::size_t{32}, std::size_t{64}, l.header_bytes_max}) {
    for (const std::size_t payload : payloads) {
      if (payload > l.eager_bytes_max || header + payload == 0) continue;
      const auto sent = pattern(header + payload, ++seed);
      const std::span all(sent);
      w.last().received.clear();
      ASSERT_NE(w.push({.header = all.first(header), .payload = all.subspan(header)}), post::retry);
      ASSERT_TRUE(w.run_until([&] { return !w.last().received.empty(); }));
      const std::string& got = w.last().received.front();
      ASSERT_EQ(got.size(), sent.size());
      EXPECT_EQ(std::memcmp(got.data(), sent.data(), sent.size()), 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.last().kept.front().bytes.data()) % 8, 0u);
      w.last().release_kept();
    }
  }
}

TEST_P(contract, packets_in_parts_arrive_whole_between_others) {
  auto w = make_world();
  const limits l = w.first()->query();
  constexpr std::size_t header = 16, count = 100;
  std::mt19937 random(9);
  std::vector<std::string> sent;
  for (std::size_t i = 0; i < count; ++i) {
    // The last lengths are around multiples of what a driver may choose for a part.
    std::size_t payload = random() % (l.eager_bytes_max + 1);
    if (i % 2 == 0) payload = std::min(l.eager_bytes_max, (payload | 4095) + i % 3);
    const auto bytes = pattern(header + payload, static_cast<unsigned>(i));
    sent.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto all = std::as_bytes(std::span(sent.back()));
    ASSERT_NE(w.push({.header = all.first(header),
                      .payload = all.subspan(header),
                      .cookie = i,
                      .in_parts = i % 5 != 0}),
              post::down);
    const auto whole = [&] {
      return w.last().received.size() == sent.size() && w.last().following.back() == 0;
    };
    if (random() % 4 == 0) {
      ASSERT_TRUE(w.run_until(whole));
    }
  }
  ASSERT_TRUE(w.run_until(
      [&] { return w.last().received.size() == count && w.last().following.back() == 0; }));
  EXPECT_TRUE(w.last().received == sent);
}

TEST_P(contract, packets_arrive_once_and_in_the_order_of_send) {
  auto w = make_world();
  std::mt19937 random(7);
  constexpr std::uint32_t count = 3000;
  const auto payload = pattern(w.first()->query().eager_bytes_max, 3);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t size = i % 50 == 0 ? payload.size() : random() % 300;
    ASSERT_NE(w.push({.header = std::as_bytes(std::span(&i, 1)),
                      .payload = std::span(payload).first(size)}),
              post::retry);
  }
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() >= count; }));
  for (int i = 0; i < 10; ++i) w.last().step();
  ASSERT_EQ(w.last().received.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t number = 0;
    std::memcpy(&number, w.last().received[i].data(), sizeof number);
    ASSERT_EQ(number, i);
  }
}

TEST_P(contract, done_means_that_header_and_payload_may_be_reused_now) {
  auto w = make_world();
  const limits l = w.first()->query();
  std::vector<std::byte> header = pattern(32, 1), payload = pattern(l.inline_bytes_max, 2);
  std::string want(reinterpret_cast<char*>(header.data()), header.size());
  want.append(reinterpret_cast<char*>(payload.data()), payload.size());
  ASSERT_EQ(w.push({.header = header, .payload = payload, .cookie = 5}), post::done);
  std::ranges::fill(header, std::byte{0xee});
  std::ranges::fill(payload, std::byte{0xee});
  ASSERT_TRUE(w.run_until([&] { return !w.last().received.empty(); }));
  EXPECT_EQ(w.last().received.front(), want);
  EXPECT_TRUE(w.first().sent.empty()) << "no event follows `done`";
}

TEST_P(contract, what_was_lent_may_change_when_it_is_reclaimed) {
  auto w = make_world();
  for (const std::size_t size : {3'000u, 10'000u, 40'000u}) {
    if (size > w.first()->query().eager_bytes_max) break;
    auto payload = pattern(size, 1);
    const std::string wanted(reinterpret_cast<const char*>(payload.data()), size);
    const auto before = w.first().sent.size();
    const auto had = w.last().received.size();
    const auto said = w.push({.payload = payload, .cookie = size, .lent = true});
    ASSERT_TRUE(said == post::done || said == post::posted);
    const auto ends = before + (said == post::posted ? 1 : 0);
    ASSERT_TRUE(w.run_until([&] { return w.first().sent.size() == ends; }));
    w.first()->reclaim(w.last_id());
    std::ranges::fill(payload, std::byte{0xee});
    ASSERT_TRUE(w.run_until([&] { return w.last().received.size() > had; }));
    EXPECT_EQ(w.last().received.back(), wanted);
  }
}

TEST_P(contract, posted_reads_the_payload_but_not_the_header_and_reports_its_cookie_once) {
  auto w = make_world();
  const limits l = w.first()->query();
  const auto payload = pattern(l.eager_bytes_max, 2);
  std::vector<std::uint64_t> posted;
  for (std::uint64_t cookie = 100; cookie < 140; ++cookie) {
    std::string header = "the header of this packet";
    const post said = w.push({.header = bytes_of(header), .payload = payload, .cookie = cookie});
    std::ranges::fill(header, 'x');
    ASSERT_TRUE(said == post::done || said == post::posted);
    if (said == post::posted) posted.push_back(cookie);
  }
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 40; }));
  ASSERT_TRUE(w.run_until([&] { return w.first().sent.size() >= posted.size(); }));
  std::ranges::sort(w.first().sent);
  EXPECT_EQ(w.first().sent, posted);
  for (const auto& r : w.last().received) EXPECT_TRUE(r.starts_with("the header of this packet"));
}

TEST_P(contract, retry_takes_nothing_and_ends_when_the_receiver_releases) {
  auto w = make_world();
  w.last().keep = true;
  const auto payload = pattern(1000, 1);
  std::uint32_t taken = 0;
  // Nothing is released, so a bounded rail answers `retry` after some packets.
  const auto offer = [&](std::uint32_t number) {
    return w.first()->send(
        w.last_id(),
        {.header = std::as_bytes(std::span(&number, 1)), .payload = payload, .cookie = number});
  };
  post said = post::done;
  while (taken < 2'000'000 && (said = offer(taken)) != post::retry) {
    ASSERT_NE(said, post::down);
    ++taken;
    if (GetParam().reaches_others) w.first().step();
  }
  if (said != post::retry) GTEST_SKIP() << "this rail took 2 GB without saying retry";
  w.last().keep = false;
  ASSERT_TRUE(w.run_until([&] {
    w.last().release_kept();
    return w.last().received.size() == taken;
  }));
  ASSERT_TRUE(w.run_until([&] { return offer(taken) != post::retry; }));
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == taken + 1; }));
}

TEST_P(contract, received_bytes_stay_readable_until_release) {
  auto w = make_world();
  w.last().keep = true;
  std::vector<std::string> want;
  for (int i = 0; i < 8; ++i) {
    want.push_back("packet number " + std::to_string(i));
    ASSERT_NE(w.push({.header = bytes_of(want.back())}), post::retry);
    ASSERT_TRUE(w.run_until([&] { return w.last().kept.size() == want.size(); }));
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto bytes = w.last().kept[i].bytes;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), want[i]);
  }
  w.last().release_kept();
}

TEST_P(contract, reap_writes_at_most_as_many_events_as_there_is_room_for) {
  auto w = make_world();
  for (int i = 0; i < 5; ++i) ASSERT_NE(w.push({.header = bytes_of("x")}), post::retry);
  EXPECT_EQ(w.last()->reap({}), 0u);
  const auto deadline = base::machine_now_ns() + 5'000'000'000u;
  while (w.last().received.size() < 5 && base::machine_now_ns() < deadline) {
    const std::size_t so_far = w.last().received.size();
    EXPECT_LE(w.last().step(1), 1u);
    EXPECT_LE(w.last().received.size(), so_far + 1);
    if (GetParam().reaches_others) w.first().step();
  }
  EXPECT_EQ(w.last().received.size(), 5u);
}

TEST_P(contract, arm_refuses_to_sleep_while_there_is_something_to_reap) {
  auto w = make_world();
  if (!w.last()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  ASSERT_NE(w.push({.header = bytes_of("connections are made inside reap")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  ASSERT_NE(w.push({.header = bytes_of("x")}), post::retry);
  // Either it refuses now, or (bytes still under way) the descriptor becomes readable.
  if (w.last()->arm(true)) {
    EXPECT_TRUE(readable(w.last()->descriptor(), 2000));
    EXPECT_TRUE(w.last()->arm(false));
  }
}

TEST_P(contract, an_armed_descriptor_becomes_readable_when_a_packet_comes) {
  auto w = make_world();
  if (!w.last()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  for (int round = 0; round < 20; ++round) {
    // Connections may still be made in the first rounds: reaps all events.
    ASSERT_TRUE(w.run_until([&] { return w.last()->arm(true); }));
    const std::size_t before = w.last().received.size();
    ASSERT_NE(send_soon(*w.first(), w.last_id(), {.header = bytes_of("ding")}), post::down);
    for (int i = 0; i < 5 && GetParam().reaches_others; ++i) w.first().step();
    EXPECT_TRUE(readable(w.last()->descriptor(), 2000));
    EXPECT_TRUE(w.last()->arm(false));
    ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == before + 1; }));
  }
}

TEST_P(contract, a_packet_that_cannot_wait_ends_a_sleep_that_is_armed_for_such) {
  auto w = make_world();
  if (!w.last()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  if (!GetParam().reaches_others) GTEST_SKIP() << "what a process sends itself can always wait";
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(w.run_until([&] { return w.last()->arm_for_hurried(); }));
    const std::size_t before = w.last().received.size();
    const packet later{.header = bytes_of("later"), .can_wait = true};
    ASSERT_NE(send_soon(*w.first(), w.last_id(), later), post::down);
    ASSERT_NE(send_soon(*w.first(), w.last_id(), {.header = bytes_of("now")}), post::down);
    for (int i = 0; i < 5; ++i) w.first().step();
    EXPECT_TRUE(readable(w.last()->descriptor(), 2000));
    EXPECT_TRUE(w.last()->arm(false));
    ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == before + 2; }));
    EXPECT_EQ(w.last().received.back(), "now");
  }
}

TEST_P(contract, an_armed_descriptor_is_silent_while_nothing_comes) {
  auto w = make_world();
  if (!w.last()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  ASSERT_NE(w.push({.header = bytes_of("x")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  ASSERT_TRUE(w.run_until([&] { return w.last()->arm(true); }));
  EXPECT_FALSE(readable(w.last()->descriptor(), 20));
  EXPECT_TRUE(w.last()->arm(false));
}

TEST_P(contract, send_may_run_beside_reap_of_the_same_driver) {
  auto w = make_world();
  const std::uint32_t count = headway::testing::whole_or(20'000u, 4'000u);
  std::atomic<bool> failed{false};
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < count && !failed; ++i) {
      post said;
      while ((said = w.first()->send(w.last_id(), {.header = std::as_bytes(std::span(&i, 1))})) ==
             post::retry)
        std::this_thread::yield();
      if (said == post::down) failed = true;
    }
  });
  const bool in_time = w.run_until([&] { return w.last().received.size() == count || failed; });
  EXPECT_TRUE(in_time);
  if (!in_time) failed = true;  // or the sender would wait for room for ever
  sender.join();
  ASSERT_FALSE(failed);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t number = 0;
    std::memcpy(&number, w.last().received[i].data(), sizeof number);
    ASSERT_EQ(number, i);
  }
}

TEST_P(contract, close_is_idempotent_and_needs_no_peer_that_listens) {
  auto w = make_world();
  static_cast<void>(w.first()->send(w.last_id(), {.header = bytes_of("x")}));
  const auto begin = base::machine_now_ns();
  w.first()->close();
  w.first()->close();
  EXPECT_LT(base::machine_now_ns() - begin, 3'000'000'000u);
  EXPECT_EQ(w.first()->send(w.last_id(), {.header = bytes_of("x")}), post::down);
}

TEST_P(contract, after_close_reap_still_reports_how_each_posted_packet_ended_and_nothing_else) {
  const auto payload = pattern(3'000'000, 6);
  std::vector<std::byte> room(payload.size());  // outlives the drivers, which may still write it
  auto w = make_world();
  const ticket target = show(*w.last(), {.bytes = room});
  ASSERT_NE(w.push({.header = bytes_of("here I am")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return !w.last().received.empty(); }));
  std::vector<std::uint64_t> posted;
  for (std::uint64_t cookie = 1; cookie <= 12; ++cookie)  // to a peer that reaps no more
    if (put_soon(*w.first(), w.last_id(), {.exposed = target}, payload, cookie) == post::posted)
      posted.push_back(cookie);
  w.first()->close();
  w.first().received.clear();
  while (w.first().step() != 0) {
  }
  auto ended = w.first().sent;
  ended.insert(ended.end(), w.first().failed.begin(), w.first().failed.end());
  std::ranges::sort(ended);
  EXPECT_EQ(ended, posted);
  EXPECT_TRUE(w.first().received.empty());
  EXPECT_TRUE(w.first().lost.empty());
}

INSTANTIATE_TEST_SUITE_P(rails, contract, ::testing::ValuesIn(kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
