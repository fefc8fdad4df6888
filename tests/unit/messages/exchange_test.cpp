#include "messages/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "tests/simulation/job.hpp"

namespace headway::messages {
namespace {

std::span<const std::byte> bytes_of(const std::vector<int>& v) {
  return std::as_bytes(std::span(v));
}
std::span<std::byte> room_of(std::vector<int>& v) { return std::as_writable_bytes(std::span(v)); }

std::vector<int> numbers(std::size_t count, int first) {
  std::vector<int> v(count);
  std::iota(v.begin(), v.end(), first);
  return v;
}

struct exchange_test : ::testing::TestWithParam<std::uint32_t> {
  exchange_test() : job({.processes = 3, .seed = GetParam()}) {
    for (std::size_t i = 0; i < 3; ++i) world[i] = job.open(i, 0);
  }
  ~exchange_test() override {
    for (std::size_t i = 0; i < 3; ++i) job.messages(i).close_context(world[i]);
  }
  bool until_done(std::initializer_list<const request*> all) {
    return job.run_until(
        [&] { return std::ranges::all_of(all, [](const request* r) { return r->test(); }); });
  }
  simulation::job job;
  context* world[3];
  std::deque<std::vector<int>> kept;  // data of sends that a test does not wait for at once
};

TEST_P(exchange_test, delivers_messages_of_every_size_posted_early_and_late) {
  for (const std::size_t count : {0u, 1u, 10u, 256u, 257u, 100'000u}) {
    for (const bool early : {true, false}) {
      const auto data = numbers(count, 7);
      std::vector<int> room(count + 1, -1);
      request s, r;
      if (early) job.messages(1).receive(*world[1], r, room_of(room), 0, 5);
      job.messages(0).send(*world[0], s, bytes_of(data), 1, 5);
      if (!early) {
        job.settle();
        job.messages(1).receive(*world[1], r, room_of(room), 0, 5);
      }
      ASSERT_TRUE(until_done({&s, &r})) << count << early;
      EXPECT_EQ(r.arrived.source, 0);
      EXPECT_EQ(r.arrived.tag, 5);
      EXPECT_EQ(r.arrived.bytes, count * sizeof(int));
      EXPECT_EQ(r.arrived.how, outcome::ok);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
      EXPECT_EQ(room.back(), -1);
    }
  }
}

TEST_P(exchange_test, matches_in_the_order_of_sending_whatever_the_sizes) {
  constexpr std::size_t count = 60;
  std::deque<request> sends(count), receives(count);
  std::vector<std::vector<int>> data, rooms(count);
  for (std::size_t i = 0; i < count; ++i) {
    data.push_back(numbers(i % 3 == 0 ? 2000 : 3, static_cast<int>(i)));
    rooms[i].resize(2000);
  }
  for (std::size_t i = 0; i < count / 2; ++i)
    job.messages(2).receive(*world[2], receives[i], room_of(rooms[i]), i % 2 ? any_source : 0,
                            any_tag);
  for (std::size_t i = 0; i < count; ++i)
    job.messages(0).send(*world[0], sends[i], bytes_of(data[i]), 2, static_cast<int>(i));
  for (std::size_t i = count / 2; i < count; ++i)
    job.messages(2).receive(*world[2], receives[i], room_of(rooms[i]), 0, any_tag);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(until_done({&sends[i], &receives[i]}));
    EXPECT_EQ(receives[i].arrived.tag, static_cast<int>(i));
    EXPECT_EQ(rooms[i][0], static_cast<int>(i));
  }
}

TEST_P(exchange_test, cuts_a_message_that_is_longer_than_the_room) {
  for (const std::size_t count : {20u, 5000u}) {
    const auto data = numbers(count, 1);
    std::vector<int> room(10, -1);
    request s, r;
    job.messages(1).receive(*world[1], r, std::as_writable_bytes(std::span(room).first(5)), 0, 0);
    job.messages(0).send(*world[0], s, bytes_of(data), 1, 0);
    ASSERT_TRUE(until_done({&s, &r}));
    EXPECT_EQ(r.arrived.how, outcome::truncated);
    EXPECT_EQ(r.arrived.bytes, 5 * sizeof(int));
    EXPECT_EQ(room[4], 5);
    EXPECT_EQ(room[5], -1);
  }
}

TEST_P(exchange_test, completes_a_synchronous_send_only_after_the_receive_has_started) {
  for (const std::size_t count : {0u, 4u, 4000u}) {
    const auto data = numbers(count, 1);
    std::vector<int> room(count);
    request s, r;
    job.messages(0).send(*world[0], s, bytes_of(data), 1, 0, send_mode::synchronous);
    EXPECT_FALSE(job.run_until([&] { return s.test(); }));
    job.messages(1).receive(*world[1], r, room_of(room), any_source, 0);
    ASSERT_TRUE(until_done({&s, &r}));
    EXPECT_EQ(room, data);
  }
}

TEST_P(exchange_test, bounds_what_waits_for_a_receive_and_loses_nothing) {
  // Three times what the receiver stores for one peer: the rest must wait at the sender.
  constexpr std::size_t count = 4096;
  const auto data = numbers(200, 3);
  std::deque<request> sends(count), receives(count);
  for (auto& s : sends) job.messages(0).send(*world[0], s, bytes_of(data), 1, 9);
  job.settle();
  const auto ended = std::ranges::count_if(sends, [](const request& s) { return s.test(); });
  EXPECT_LT(ended, 1200);
  EXPECT_GT(ended, 100);
  std::vector<int> room(200);
  for (auto& r : receives) {
    std::ranges::fill(room, 0);
    job.messages(1).receive(*world[1], r, room_of(room), 0, 9);
    ASSERT_TRUE(until_done({&r}));
    ASSERT_EQ(room, data);
  }
  for (auto& s : sends) ASSERT_TRUE(until_done({&s}));
}

TEST_P(exchange_test, sends_without_a_request_in_order_with_others_as_far_as_credits_reach) {
  constexpr std::size_t count = 4096;  // twice what the receiver stores for one peer
  std::deque<request> sends(count), receives(count);
  std::size_t prompt = 0, last_prompt = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto data = numbers(100, static_cast<int>(i));
    if (i % 4 != 0 && job.messages(0).send_now(*world[0], bytes_of(data), 1, 9)) {
      ++prompt;
      last_prompt = i;
      sends[i].begin_done();
    } else {
      kept.push_back(data);
      job.messages(0).send(*world[0], sends[i], bytes_of(kept.back()), 1, 9);
    }
    if (i % 16 == 0) job.settle();
  }
  EXPECT_GT(prompt, 100u);
  EXPECT_LT(last_prompt, 2100u);
  std::vector<int> room(100);
  for (std::size_t i = 0; i < count; ++i) {
    job.messages(1).receive(*world[1], receives[i], room_of(room), 0, 9);
    ASSERT_TRUE(until_done({&receives[i]}));
    ASSERT_EQ(room, numbers(100, static_cast<int>(i)));
  }
  for (auto& s : sends) ASSERT_TRUE(until_done({&s}));
  EXPECT_FALSE(job.messages(0).send_now(
      *world[0], bytes_of(numbers(exchange::prompt_bytes_max / sizeof(int) + 1, 0)), 1, 9));
}

// Of the messages that fill the credits and of those that need a request to send, posted early and
// late: none of them may look like the message itself, which is empty too.
TEST_P(exchange_test, says_of_a_message_that_its_sender_gave_up_also_without_credits) {
  constexpr std::size_t count = 9000;  // an empty message is charged too
  std::deque<request> sends(count), receives(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == count / 2) job.settle();
    job.messages(0).send(*world[0], sends[i], {}, 1, 9, send_mode::give_up);
  }
  job.settle();
  EXPECT_FALSE(sends.back().test());  // it waits for its receive
  for (auto& r : receives) {
    job.messages(1).receive(*world[1], r, {}, 0, 9);
    ASSERT_TRUE(until_done({&r}));
    ASSERT_EQ(r.arrived.how, outcome::peer_lost);
  }
  for (auto& s : sends) ASSERT_TRUE(until_done({&s}));
}

TEST_P(exchange_test, keeps_contexts_apart_and_messages_that_come_before_theirs_is_open) {
  const auto data = numbers(3, 1), other = numbers(3, 100);
  context* early = job.open(0, 300);
  request s1, s2;
  job.messages(0).send(*early, s1, bytes_of(other), 1, 5);
  job.messages(0).send(*world[0], s2, bytes_of(data), 1, 5);
  job.settle();
  context* late = job.open(1, 300);
  std::vector<int> room(3), room_world(3);
  request r1, r2;
  job.messages(1).receive(*late, r1, room_of(room), any_source, any_tag);
  job.messages(1).receive(*world[1], r2, room_of(room_world), any_source, any_tag);
  ASSERT_TRUE(until_done({&s1, &s2, &r1, &r2}));
  EXPECT_EQ(room, other);
  EXPECT_EQ(room_world, data);
  job.messages(0).close_context(early);
  job.messages(1).close_context(late);
}

TEST_P(exchange_test, cancels_a_receive_that_has_not_matched_and_leaves_one_that_has) {
  std::vector<int> room(2000), room2(2000);
  request r1, r2, s;
  job.messages(1).receive(*world[1], r1, room_of(room), 0, 1);
  job.messages(1).receive(*world[1], r2, room_of(room2), any_source, 1);
  job.messages(1).cancel(r1);
  ASSERT_TRUE(r1.test());
  EXPECT_EQ(r1.arrived.how, outcome::cancelled);
  const auto data = numbers(2000, 1);
  job.messages(0).send(*world[0], s, bytes_of(data), 1, 1);
  ASSERT_TRUE(until_done({&s, &r2}));
  job.messages(1).cancel(r2);
  EXPECT_EQ(r2.arrived.how, outcome::ok);
  EXPECT_EQ(room2, data);
}

TEST_P(exchange_test, shows_a_message_to_a_probe_and_gives_a_matched_one_to_no_other_receive) {
  for (const std::size_t count : {3u, 3000u}) {
    const auto first = numbers(count, 1), second = numbers(count, 50);
    std::vector<int> room1(count), room2(count);
    request s1, s2, r1, r2;
    job.messages(0).send(*world[0], s1, bytes_of(first), 1, 4);
    job.messages(0).send(*world[0], s2, bytes_of(second), 1, 4);
    arrival found;
    ASSERT_TRUE(job.run_until([&] { return job.messages(1).probe(*world[1], 0, any_tag, found); }));
    EXPECT_EQ(found.bytes, count * sizeof(int));
    EXPECT_EQ(found.tag, 4);
    unexpected_message* taken = job.messages(1).probe_matched(*world[1], any_source, 4, found);
    ASSERT_NE(taken, nullptr);
    job.messages(1).receive(*world[1], r2, room_of(room2), 0, 4);
    job.messages(1).receive_unexpected(*world[1], r1, taken, room_of(room1));
    ASSERT_TRUE(until_done({&s1, &s2, &r1, &r2}));
    EXPECT_EQ(room1, first);
    EXPECT_EQ(room2, second);
  }
}

TEST_P(exchange_test, ends_all_that_involves_a_lost_process_and_nothing_else) {
  const auto data = numbers(5000, 1);
  std::vector<int> room(5000), room2(5000), room3(5000), room4(5000);
  context* collective = job.open(0, 12, true);
  request to_lost, from_lost, from_any, from_other, in_collective, other_send, later;
  job.messages(0).send(*world[0], to_lost, bytes_of(data), 2, 1);
  job.messages(0).receive(*world[0], from_lost, room_of(room), 2, 1);
  job.messages(0).receive(*world[0], from_other, room_of(room3), 1, 2);
  job.messages(0).receive(*world[0], from_any, room_of(room2), any_source, 77);
  job.messages(0).receive(*collective, in_collective, room_of(room4), 1, 1);
  job.kill(2);
  ASSERT_TRUE(until_done({&to_lost, &from_lost, &from_any, &in_collective}));
  for (const request* r : {&to_lost, &from_lost, &from_any, &in_collective})
    EXPECT_EQ(r->arrived.how, outcome::peer_lost);
  EXPECT_FALSE(from_other.test());
  job.messages(1).send(*world[1], other_send, bytes_of(data), 0, 2);
  ASSERT_TRUE(until_done({&from_other, &other_send}));
  EXPECT_EQ(from_other.arrived.how, outcome::ok);
  job.messages(0).receive(*world[0], later, room_of(room), 2, 1);
  EXPECT_TRUE(later.test());
  EXPECT_EQ(later.arrived.how, outcome::peer_lost);
  job.messages(0).close_context(collective);
}

TEST_P(exchange_test, takes_a_message_into_preposted_memory_and_nothing_beside_it) {
  const auto data = numbers(5000, 3);
  for (const bool expected_first : {true, false}) {
    std::vector<int> room(6000, -1);
    request s, r;
    packets::preposted zone;
    for (int i = 0; i < 100 && zone.number == 0; ++i)  // this rail refuses some
      zone = job.messages(1).prepost(*world[1], r, room_of(room), 0);
    ASSERT_NE(zone.number, 0u);
    if (expected_first) job.messages(1).expect(r, data.size() * sizeof(int));
    job.messages(0).put(*world[0], s, bytes_of(data), 1, zone);
    if (!expected_first) {
      EXPECT_FALSE(job.run_until([&] { return r.test(); }));
      job.messages(1).expect(r, data.size() * sizeof(int));
    }
    ASSERT_TRUE(until_done({&s, &r}));
    EXPECT_EQ(r.arrived.how, outcome::ok);
    EXPECT_EQ(r.arrived.bytes, data.size() * sizeof(int));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
    EXPECT_EQ(room[5000], -1);
    EXPECT_EQ(job.messages(1).withdraw(zone.number), nullptr);
  }
}

TEST_P(exchange_test, writes_nothing_into_preposted_memory_that_was_withdrawn) {
  const auto data = numbers(500, 3);
  std::vector<int> room(500, -1);
  request s, r;
  packets::preposted zone;
  for (int i = 0; i < 100 && zone.number == 0; ++i)
    zone = job.messages(1).prepost(*world[1], r, room_of(room), 0);
  ASSERT_EQ(job.messages(1).withdraw(zone.number), &r);
  job.messages(0).put(*world[0], s, bytes_of(data), 1, zone);
  ASSERT_TRUE(until_done({&s}));
  job.settle();
  EXPECT_EQ(room, std::vector<int>(500, -1));
  EXPECT_FALSE(r.test());
}

TEST_P(exchange_test, ends_what_was_preposted_for_a_sender_that_is_lost) {
  std::vector<int> room(500), other(500);
  request r, expected;
  for (auto* one : {&r, &expected}) {
    packets::preposted zone;
    for (int i = 0; i < 100 && zone.number == 0; ++i)
      zone = job.messages(1).prepost(*world[1], *one, room_of(one == &r ? room : other), 2);
    ASSERT_NE(zone.number, 0u);
  }
  job.messages(1).expect(expected, 100);
  job.kill(2);
  ASSERT_TRUE(until_done({&r, &expected}));
  EXPECT_EQ(r.arrived.how, outcome::peer_lost);
  EXPECT_EQ(expected.arrived.how, outcome::peer_lost);
}

TEST_P(exchange_test, calls_the_finisher_once_before_completion) {
  struct counted {
    int calls = 0;
    bool was_complete = false;
  } seen;
  const auto data = numbers(10, 1);
  std::vector<int> room(10);
  request s, r;
  r.owner = &seen;
  r.finish = [](request& self) noexcept {
    auto& c = *static_cast<counted*>(self.owner);
    ++c.calls;
    c.was_complete = self.test();
    return true;
  };
  job.messages(1).receive(*world[1], r, room_of(room), 0, 1);
  job.messages(0).send(*world[0], s, bytes_of(data), 1, 1);
  ASSERT_TRUE(until_done({&s, &r}));
  EXPECT_EQ(seen.calls, 1);
  EXPECT_FALSE(seen.was_complete);
}

INSTANTIATE_TEST_SUITE_P(seeds, exchange_test, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace headway::messages
