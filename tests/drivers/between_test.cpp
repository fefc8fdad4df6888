// The sentences of rails/driver.hpp that need two ends, for every kind of driver that has two.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

class contract_between : public ::testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] world make_world(int size = 2) const { return world(GetParam(), size); }
};

TEST_P(contract_between, an_armed_sender_that_got_retry_wakes_when_there_is_room) {
  auto w = make_world();
  if (!w.first()->query().wakes) GTEST_SKIP() << "this rail wakes no sleeper";
  const auto payload = pattern(1000, 1);
  const auto offer = [&] {
    return w.first()->send(w.last_id(), {.header = bytes_of("h"), .payload = payload});
  };
  std::size_t taken = 0;
  while (taken < 2'000'000 && offer() != post::retry) ++taken;
  if (taken == 2'000'000) GTEST_SKIP() << "this rail took 2 GB without saying retry";
  for (int round = 0; round < 3; ++round) {
    while (offer() != post::retry) ++taken;
    if (!w.first()->arm(true)) continue;  // there is room already
    std::atomic<bool> stop{false};
    std::thread receiver([&] {
      while (!stop.load(std::memory_order_relaxed)) w.last().step();
    });
    EXPECT_TRUE(readable(w.first()->descriptor(), 5000));
    stop.store(true, std::memory_order_relaxed);
    receiver.join();
    EXPECT_TRUE(w.first()->arm(false));
    ASSERT_TRUE(w.run_until([&] { return offer() != post::retry; }));
    ++taken;
  }
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == taken; }));
}

TEST_P(contract_between, what_was_done_leaves_in_reaps_for_which_an_armed_sender_is_woken) {
  auto w = make_world();
  if (!w.first()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  const auto payload = pattern(1000, 1);
  std::size_t taken = 0;
  for (int refused = 0; taken < 2'000'000 && refused < 100;) {
    const bool done =
        w.first()->send(w.last_id(), {.header = bytes_of("h"), .payload = payload}) == post::done;
    taken += done ? 1 : 0;
    refused = done ? 0 : refused + 1;
  }
  std::atomic<bool> over{false};
  std::thread receiver([&] {
    while (!over.load(std::memory_order_relaxed)) w.last().step();
  });
  std::this_thread::sleep_for(
      std::chrono::milliseconds(50));  // what can come without a reap is here
  const auto begin = base::machine_now_ns();
  while (w.first()->unsent() && base::machine_now_ns() - begin < 60'000'000'000u) {
    if (w.first().step() > 0) continue;
    if (w.first()->arm(true) && w.first()->unsent()) {
      EXPECT_TRUE(readable(w.first()->descriptor(), 5000)) << "slept for ever";
    }
    EXPECT_TRUE(w.first()->arm(false));
  }
  EXPECT_FALSE(w.first()->unsent());
  over.store(true, std::memory_order_relaxed);
  receiver.join();
  for (int i = 0; i < 2000 && w.last().received.size() < taken; ++i) {
    w.last().step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(w.last().received.size(), taken);
}

TEST_P(contract_between, sleeping_ends_of_a_large_payload_are_woken_until_all_has_landed) {
  auto w = make_world();
  if (!w.first()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  const auto payload = pattern(8'000'000, 6);
  std::vector<std::byte> target(payload.size());
  const post said = w.put({.exposed = show(*w.last(), {.bytes = target})}, payload, 1);
  // Each end sleeps whenever `arm` allows it; no other thread polls.
  const auto sleeper = [](station& s, const auto& enough) {
    while (!enough()) {
      if (s.step() > 0 || enough()) continue;
      if (s->arm(true)) {
        EXPECT_TRUE(readable(s->descriptor(), 5000)) << "slept for ever";
      }
      EXPECT_TRUE(s->arm(false));
      if (::testing::Test::HasFailure()) return;
    }
  };
  // `sent` says that the payload may be reused: a copy of its end may still wait in the driver.
  std::thread sender([&] {
    sleeper(w.first(), [&] {
      return (said == post::done || !w.first().sent.empty()) && !w.first()->unsent();
    });
  });
  sleeper(w.last(), [&] { return w.last().landed_bytes == payload.size(); });
  sender.join();
  EXPECT_EQ(target, payload);
}

TEST_P(contract_between, sleeping_ends_of_a_large_get_are_woken_until_all_is_there) {
  auto w = make_world();
  if (!w.first()->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  if (!w.first()->memory()->limits_to(w.last_id()).get) GTEST_SKIP() << "this rail has no get";
  auto source = pattern(4'000'000, 6);
  std::vector<std::byte> target(source.size());
  const post said =
      w.get({.exposed = show(*w.last(), {.bytes = source, .rights = access::get})}, target, 1);
  std::atomic<bool> over{said == post::done};
  const auto sleep_and_step = [](station& s) {
    if (s.step() > 0) return;
    if (s->arm(true)) static_cast<void>(readable(s->descriptor(), 500));
    EXPECT_TRUE(s->arm(false));
  };
  std::thread serving([&] {
    while (!over.load(std::memory_order_relaxed)) sleep_and_step(w.last());
  });
  const auto begin = base::machine_now_ns();
  while (said != post::done && w.first().sent.empty() && !::testing::Test::HasFailure()) {
    sleep_and_step(w.first());
    EXPECT_LT(base::machine_now_ns() - begin, 60'000'000'000u) << "slept for ever";
  }
  over.store(true, std::memory_order_relaxed);
  serving.join();
  EXPECT_EQ(target, source);
}

TEST_P(contract_between, every_pair_of_five_exchanges_packets_at_once) {
  constexpr std::uint32_t size = 5, count = 200;
  auto w = make_world(size);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t from = 0; from < size; ++from)
      for (std::uint32_t to = 0; to < size; ++to) {
        if (from == to) continue;
        post said = post::retry;
        ASSERT_TRUE(w.run_until([&] {
          said = w.stations[from]->send(peer_id{to}, {.header = std::as_bytes(std::span(&i, 1))});
          return said != post::retry;
        }));
      }
  ASSERT_TRUE(w.run_until([&] {
    return std::ranges::all_of(w.stations,
                               [](auto& s) { return s.received.size() == count * (size - 1); });
  }));
  for (auto& s : w.stations) {
    std::vector<std::uint32_t> next(size);
    for (std::size_t i = 0; i < s.received.size(); ++i) {
      std::uint32_t number = 0;
      std::memcpy(&number, s.received[i].data(), sizeof number);
      ASSERT_EQ(number, next[static_cast<std::size_t>(s.received_from[i])]++);
    }
  }
}

TEST_P(contract_between, a_packet_sent_before_the_receiver_connects_is_kept) {
  const std::string job = fresh_job();
  station a(GetParam().make(job, 0, 2)), b(GetParam().make(job, 1, 2));
  const auto address_a = a->open(), address_b = b->open();
  ASSERT_TRUE(address_a && address_b);
  ASSERT_TRUE(a->connect(peer_id{1}, *address_b));
  ASSERT_NE(send_soon(*a, peer_id{1}, {.header = bytes_of("early")}), post::down);
  for (int i = 0; i < 50; ++i) {
    a.step();
    b.step();
  }
  ASSERT_TRUE(b->connect(peer_id{0}, *address_a));
  for (int i = 0; i < 2000 && b.received.empty(); ++i) {
    a.step();
    b.step();
    if (i > 100) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(b.received.size(), 1u);
  EXPECT_EQ(b.received.front(), "early");
  a->close();
  b->close();
}

TEST_P(contract_between, an_address_that_is_garbage_is_refused_and_harms_nothing) {
  auto w = make_world();
  const auto nobody = w.known.front()->add({.job = 1, .rank = 1000});
  for (const std::size_t size : {0u, 1u, 7u, 40u, 400u})
    EXPECT_FALSE(w.first()->connect(nobody, pattern(size, 1)));
  EXPECT_EQ(w.first()->send(nobody, {.header = bytes_of("x")}), post::down);
  ASSERT_NE(w.push({.header = bytes_of("fine")}), post::retry);
  EXPECT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
}

TEST_P(contract_between, a_peer_that_closed_is_down_for_sends_but_not_lost) {
  auto w = make_world();
  ASSERT_NE(w.push({.header = bytes_of("before")}), post::retry);
  ASSERT_NE(send_soon(*w.last(), w.first_id(), {.header = bytes_of("last words")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  w.last()->close();
  const auto deadline = base::machine_now_ns() + 3'000'000'000u;
  post said = post::done;
  while (said != post::down && base::machine_now_ns() < deadline) {
    w.first().step();
    w.first()->tick(base::machine_now_ns());
    said = w.first()->send(w.last_id(), {.header = bytes_of("late")});
  }
  EXPECT_EQ(said, post::down);
  for (int i = 0; i < 20; ++i) w.first().step();
  EXPECT_TRUE(w.first().lost.empty());
  ASSERT_EQ(w.first().received.size(), 1u) << "what it sent before it closed still arrives";
  EXPECT_EQ(w.first().received.front(), "last words");
}

TEST_P(contract_between, close_sends_what_was_taken) {
  auto w = make_world();
  const auto payload = pattern(2'000'000, 8);
  std::vector<std::byte> target(payload.size());
  ASSERT_NE(w.put({.exposed = show(*w.last(), {.bytes = target})}, payload), post::retry);
  ASSERT_NE(w.push({.header = bytes_of("the end")}), post::retry);
  std::thread closing([&] { w.first()->close(); });
  const auto deadline = base::machine_now_ns() + 5'000'000'000u;
  while ((w.last().landed_bytes < payload.size() || w.last().received.empty()) &&
         base::machine_now_ns() < deadline)
    w.last().step();
  closing.join();
  EXPECT_EQ(target, payload);
  ASSERT_EQ(w.last().received.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(rails, contract_between, ::testing::ValuesIn(kinds_that_reach_others()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
