// The contract of rails/memory.hpp, a test per sentence, for every kind of driver in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "rails/health.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

/// One world of each kind for a test; `self`, which reaches no other process, is both of its ends.
class contract_memory : public ::testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] world make_world() const {
    return world(GetParam(), GetParam().reaches_others ? 2 : 1);
  }
  /// The limits of the first driver for the last one's memory.
  [[nodiscard]] static memory_limits limits_of(world& w) {
    return w.first()->memory()->limits_to(w.last_id());
  }
};

TEST_P(contract_memory, limits_say_that_a_known_peer_can_be_put_to_and_an_unknown_one_cannot) {
  auto w = make_world();
  EXPECT_TRUE(limits_of(w).put);
  EXPECT_FALSE(w.first()->memory()->limits_to(peer_id{1000}).put);
  std::byte one{};
  const ticket nowhere{.id = 1, .bytes = 1};
  EXPECT_EQ(w.first()->memory()->put(peer_id{1000}, {.exposed = nowhere}, {&one, 1}, 0),
            post::down);
}

TEST_P(contract_memory, what_is_put_is_written_to_its_place_and_counted_once) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{5000},
                                 std::size_t{65536}, std::size_t{3'000'001}}) {
    auto w = make_world();
    const auto payload = pattern(size, static_cast<unsigned>(size));
    std::vector<std::byte> target(size);
    const ticket shown = show(*w.last(), {.bytes = target, .token = 9});
    const post said = w.put({.exposed = shown}, payload, 77);
    ASSERT_TRUE(said == post::done || said == post::posted);
    ASSERT_TRUE(w.run_until([&] {
      return w.last().landed_bytes == size && (said == post::done || !w.first().sent.empty());
    })) << size;
    for (int i = 0; i < 10; ++i) w.last().step();
    EXPECT_EQ(w.last().landed_bytes, size);
    EXPECT_EQ(target, payload);
    EXPECT_EQ(w.first().sent.size(), said == post::posted ? 1u : 0u);
    EXPECT_TRUE(w.last().received.empty()) << "a put is no received event";
    for (const auto token : w.last().landed_tokens) EXPECT_EQ(token, 9u);
    w.last()->memory()->withdraw(shown);
  }
}

TEST_P(contract_memory, puts_into_one_exposure_arrive_at_their_offsets_in_any_order) {
  auto w = make_world();
  const auto payload = pattern(1'000'000, 4);
  std::vector<std::byte> target(payload.size());
  const ticket shown = show(*w.last(), {.bytes = target});
  const std::size_t cuts[] = {0, 13, 70'000, 70'001, 400'000, 999'999, payload.size()};
  for (std::size_t i = std::size(cuts) - 1; i > 0; --i) {
    const auto piece = std::span(payload).subspan(cuts[i - 1], cuts[i] - cuts[i - 1]);
    ASSERT_NE(w.put({.exposed = shown, .offset = cuts[i - 1]}, piece), post::retry);
  }
  ASSERT_TRUE(w.run_until([&] { return w.last().landed_bytes == payload.size(); }));
  EXPECT_EQ(target, payload);
}

TEST_P(contract_memory, many_puts_and_packets_cross_without_harm) {
  auto w = make_world();
  constexpr std::size_t count = 40, bytes = 100'000;
  std::vector<std::vector<std::byte>> from, to(count, std::vector<std::byte>(bytes));
  std::vector<ticket> shown;
  for (std::uint32_t z = 0; z < count; ++z) {
    from.push_back(pattern(bytes, z));
    shown.push_back(show(*w.last(), {.bytes = to[z]}));
  }
  for (std::uint32_t z = 0; z < count; ++z) {
    ASSERT_NE(w.put({.exposed = shown[z]}, from[z], z), post::retry);
    ASSERT_NE(w.push({.header = std::as_bytes(std::span(&z, 1))}), post::retry);
  }
  ASSERT_TRUE(w.run_until(
      [&] { return w.last().landed_bytes == count * bytes && w.last().received.size() == count; }));
  EXPECT_EQ(from, to);
}

TEST_P(contract_memory, large_puts_before_the_target_looked_arrive_where_they_belong) {
  auto w = make_world();
  constexpr std::uint32_t count = 24;
  constexpr std::size_t bytes = 200'000;
  std::vector<std::vector<std::byte>> from, to(count, std::vector<std::byte>(bytes));
  std::vector<ticket> shown;
  for (std::uint32_t z = 0; z < count; ++z) {
    from.push_back(pattern(bytes, z));
    shown.push_back(show(*w.last(), {.bytes = to[z]}));
  }
  std::uint32_t posted = 0;
  for (int step = 0; step < 1000 && posted < count; ++step) {
    const auto said =
        w.first()->memory()->put(w.last_id(), {.exposed = shown[posted]}, from[posted], posted);
    if (said != post::retry) ++posted;
    w.first().step();
  }
  for (; posted < count; ++posted)
    ASSERT_NE(w.put({.exposed = shown[posted]}, from[posted]), post::retry);
  EXPECT_TRUE(w.run_until([&] { return w.last().landed_bytes == count * bytes; }));
  EXPECT_EQ(to, from);
}

TEST_P(contract_memory, after_withdraw_nothing_is_written_there_and_sent_still_comes) {
  auto w = make_world();
  const auto payload = pattern(4'000'000, 5);
  std::vector<std::byte> target(payload.size());
  const ticket shown = show(*w.last(), {.bytes = target});
  const post said = w.put({.exposed = shown}, payload, 1);
  w.last().step();
  w.last()->memory()->withdraw(shown);
  const auto snapshot = target;
  ASSERT_TRUE(w.run_until([&] { return said == post::done || !w.first().sent.empty(); }));
  for (int i = 0; i < 100; ++i) w.last().step();
  EXPECT_EQ(target, snapshot);
  ASSERT_NE(w.push({.header = bytes_of("alive")}), post::retry);
  EXPECT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
}

TEST_P(contract_memory, a_put_of_nothing_is_done_and_no_event_follows) {
  auto w = make_world();
  std::byte one{};
  EXPECT_EQ(w.put({.exposed = show(*w.last(), {.bytes = {&one, 1}})}, {}), post::done);
  for (int i = 0; i < 20; ++i) w.last().step();
  EXPECT_TRUE(w.last().landed_tokens.empty());
}

TEST_P(contract_memory, thousands_of_exposures_are_open_at_once_and_no_id_is_used_twice) {
  auto w = make_world();
  constexpr std::size_t count = 5000;
  std::vector<std::byte> room(count);
  std::vector<ticket> shown;
  std::set<std::uint64_t> ids;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      shown.push_back(show(*w.last(), {.bytes = std::span(room).subspan(i, 1)}));
      EXPECT_TRUE(ids.insert(shown.back().id).second);
    }
    const std::byte value{static_cast<unsigned char>(round + 1)};
    ASSERT_NE(w.put({.exposed = shown.back()}, {&value, 1}), post::retry);
    ASSERT_TRUE(w.run_until([&] { return room.back() == value; }));
    for (const auto& t : shown) w.last()->memory()->withdraw(t);
    shown.clear();
  }
}

TEST_P(contract_memory, an_exposure_that_is_not_notified_is_written_without_an_event) {
  auto w = make_world();
  for (const std::size_t size : {std::size_t{8}, std::size_t{2'000'000}}) {
    const auto payload = pattern(size, 2);
    std::vector<std::byte> target(size);
    const ticket shown = show(*w.last(), {.bytes = target, .rights = access::put});
    ASSERT_TRUE(w.ends_well(w.put({.exposed = shown}, payload, 5), 5));
    // A program would send a packet after the bytes; here the test compares them.
    ASSERT_TRUE(w.run_until([&] { return target == payload; }));
    EXPECT_TRUE(w.last().landed_tokens.empty());
  }
}

TEST_P(contract_memory, a_flush_ends_when_all_that_was_put_before_is_in_its_place) {
  auto w = make_world();
  if (!limits_of(w).flush) GTEST_SKIP() << "this rail has no flush";
  ASSERT_TRUE(w.ends_well(w.flush(1), 1)) << "with nothing before it";
  std::uint64_t cookie = 1;
  for (const auto rights : {access::put, access::put | access::notified})
    for (const std::size_t size : {std::size_t{8}, std::size_t{3000}, std::size_t{2'000'000}}) {
      const auto payload = pattern(size, 7);
      std::vector<std::byte> target(size);
      const ticket shown = show(*w.last(), {.bytes = target, .rights = rights});
      for (std::size_t at = 0; at < size; at += (size + 2) / 3) {
        const auto piece = std::span(payload).subspan(at, std::min((size + 2) / 3, size - at));
        ++cookie;
        ASSERT_TRUE(w.ends_well(w.put({.exposed = shown, .offset = at}, piece, cookie), cookie));
      }
      auto said = post::retry;  // the target does not run between the last put's end and this call
      for (int tries = 0; tries < 1000 && said == post::retry; ++tries)
        said = w.first()->memory()->flush(w.last_id(), ++cookie);
      ASSERT_TRUE(said == post::done || said == post::posted);
      const auto ended = [&] {
        return said == post::done || (!w.first().sent.empty() && w.first().sent.back() == cookie);
      };
      for (int steps = 0; steps < 10'000'000 && !ended(); ++steps) {
        w.last().step();
        w.first().step();  // last, so that the target does nothing after the flush has ended
      }
      ASSERT_TRUE(ended());
      EXPECT_EQ(target, payload) << size;
      w.last()->memory()->withdraw(shown);
    }
}

TEST_P(contract_memory, a_flush_of_an_unknown_peer_is_down) {
  auto w = make_world();
  EXPECT_EQ(w.first()->memory()->flush(peer_id{1000}, 1), post::down);
}

TEST_P(contract_memory, get_fills_the_callers_bytes_with_what_is_there) {
  auto w = make_world();
  if (!limits_of(w).get) GTEST_SKIP() << "this rail, or this kernel, reads no other memory";
  auto source = pattern(3'000'000, 4);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{2'999'000}}) {
    std::vector<std::byte> got(size);
    ASSERT_TRUE(w.ends_well(w.get({.exposed = shown, .offset = 7}, got, size), size));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), source.begin() + 7));
  }
}

TEST_P(contract_memory, many_gets_under_way_end_each_with_its_own_cookie) {
  auto w = make_world();
  if (!limits_of(w).get) GTEST_SKIP() << "this rail, or this kernel, reads no other memory";
  constexpr std::size_t count = 600, bytes = 3000;
  auto source = pattern(count * bytes, 4);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  std::vector<std::byte> got(source.size());
  std::size_t posted = 0;
  for (std::size_t i = 0; i < count; ++i)
    posted += w.get({.exposed = shown, .offset = i * bytes},
                    std::span(got).subspan(i * bytes, bytes), i) == post::posted;
  ASSERT_TRUE(w.run_until([&] { return w.first().sent.size() == posted; }));
  EXPECT_EQ(std::set(w.first().sent.begin(), w.first().sent.end()).size(), posted);
  EXPECT_EQ(got, source);
}

TEST_P(contract_memory, get_of_what_is_withdrawn_or_not_allowed_fails_and_the_rail_works) {
  auto w = make_world();
  const auto limits = limits_of(w);
  if (!limits.get) GTEST_SKIP() << "this rail, or this kernel, reads no other memory";
  if (limits.direct) GTEST_SKIP() << "the kernel copies without asking the peer";
  std::vector<std::byte> secret(100), got(100);
  const ticket only_put = show(*w.last(), {.bytes = secret});
  EXPECT_FALSE(w.ends_well(w.get({.exposed = only_put}, got, 1), 1));
  const ticket gone = show(*w.last(), {.bytes = secret, .rights = access::get});
  w.last()->memory()->withdraw(gone);
  EXPECT_FALSE(w.ends_well(w.get({.exposed = gone}, got, 2), 2));
  ASSERT_NE(w.push({.header = bytes_of("alive")}), post::retry);
  EXPECT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
}

TEST_P(contract_memory, a_put_by_a_peer_that_is_not_allowed_changes_nothing) {
  auto w = make_world();
  std::vector<std::byte> target(100), other(100, std::byte{1});
  const auto not_this_peer = process_set::only(peer_id{7});
  const ticket shown = show(*w.last(), {.bytes = target, .who = not_this_peer});
  ASSERT_TRUE(w.ends_well(w.put({.exposed = shown}, other, 1), 1));
  ASSERT_NE(w.push({.header = bytes_of("behind it")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  for (int i = 0; i < 20; ++i) w.last().step();
  EXPECT_EQ(target, std::vector<std::byte>(100));
  EXPECT_TRUE(w.last().landed_tokens.empty());
}

TEST_P(contract_memory, atomics_change_the_word_and_return_what_it_was) {
  auto w = make_world();
  if (!limits_of(w).atomic) GTEST_SKIP() << "this rail has no atomics";
  alignas(8) std::array<std::uint64_t, 2> words{0, 100};
  const ticket shown = show(
      *w.last(), {.bytes = std::as_writable_bytes(std::span(words)), .rights = access::atomic});
  std::uint64_t cookie = 0;
  const auto change = [&](operation what, std::uint64_t operand, std::uint64_t expected = 0) {
    std::uint64_t before = ~std::uint64_t{0};
    ++cookie;
    const auto said =
        w.atomic({.exposed = shown, .offset = 8},
                 {.what = what, .operand = operand, .expected = expected}, before, cookie);
    EXPECT_TRUE(w.ends_well(said, cookie));
    return before;
  };
  EXPECT_EQ(change(operation::fetch, 5), 100u);
  EXPECT_EQ(change(operation::add, 7), 100u);
  EXPECT_EQ(change(operation::bit_and, 0x6f), 107u);
  EXPECT_EQ(change(operation::bit_or, 0x100), 0x6bu);
  EXPECT_EQ(change(operation::bit_xor, 0x101), 0x16bu);
  EXPECT_EQ(change(operation::swap, 1), 0x6au);
  EXPECT_EQ(change(operation::compare_and_swap, 9, 2), 1u);
  EXPECT_EQ(change(operation::compare_and_swap, 9, 1), 1u);
  EXPECT_EQ(words, (std::array<std::uint64_t, 2>{0, 9}));
}

TEST_P(contract_memory, no_atomic_of_many_under_way_is_lost) {
  auto w = make_world();
  if (!limits_of(w).atomic) GTEST_SKIP() << "this rail has no atomics";
  constexpr std::uint64_t count = 500;
  alignas(8) std::uint64_t word = 0;
  const ticket shown = show(
      *w.last(), {.bytes = std::as_writable_bytes(std::span(&word, 1)), .rights = access::atomic});
  std::vector<std::uint64_t> before(count);
  std::size_t posted = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    posted += w.atomic({.exposed = shown}, {.what = operation::add, .operand = 1}, before[i], i) ==
              post::posted;
  ASSERT_TRUE(w.run_until([&] { return w.first().sent.size() == posted; }));
  std::ranges::sort(before);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(before[i], i);
}

TEST_P(contract_memory, an_atomic_on_what_is_withdrawn_or_no_word_fails) {
  auto w = make_world();
  if (!limits_of(w).atomic) GTEST_SKIP() << "this rail has no atomics";
  alignas(8) std::array<std::uint64_t, 2> words{1, 2};
  const auto bytes = std::as_writable_bytes(std::span(words));
  std::uint64_t before = 0;
  const ticket shown = show(*w.last(), {.bytes = bytes, .rights = access::atomic});
  EXPECT_FALSE(w.ends_well(
      w.atomic({.exposed = shown, .offset = 4}, {.what = operation::swap}, before, 1), 1));
  w.last()->memory()->withdraw(shown);
  EXPECT_FALSE(w.ends_well(w.atomic({.exposed = shown}, {.what = operation::swap}, before, 2), 2));
  EXPECT_EQ(words, (std::array<std::uint64_t, 2>{1, 2}));
}

TEST_P(contract_memory, operations_under_way_when_the_driver_closes_all_end) {
  auto w = make_world();
  if (!limits_of(w).get) GTEST_SKIP() << "this rail, or this kernel, reads no other memory";
  ASSERT_NE(w.push({.header = bytes_of("here I am")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return !w.last().received.empty(); }));
  auto source = pattern(1000, 3);
  std::vector<std::byte> got(1000);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  std::size_t posted = 0;
  for (std::uint64_t cookie = 0; cookie < 20; ++cookie)
    posted +=
        w.first()->memory()->get(w.last_id(), {.exposed = shown}, got, cookie) == post::posted;
  w.first()->close();
  while (w.first().step() != 0) {
  }
  EXPECT_EQ(w.first().sent.size() + w.first().failed.size(), posted);
  w.last()->memory()->withdraw(shown);  // what was asked may not have been read yet
}

TEST_P(contract_memory, expose_and_withdraw_may_run_beside_everything) {
  auto w = make_world();
  const auto payload = pattern(20'000, 1);
  std::vector<std::byte> target(payload.size());
  const ticket shown = show(*w.last(), {.bytes = target});
  std::atomic<bool> stop{false};
  std::thread other([&] {
    std::vector<std::byte> room(100);
    while (!stop.load(std::memory_order_relaxed))
      w.last()->memory()->withdraw(show(*w.last(), {.bytes = room}));
  });
  for (int i = 0; i < 200; ++i) EXPECT_NE(w.put({.exposed = shown}, payload), post::down);
  EXPECT_TRUE(w.run_until([&] { return w.last().landed_bytes == 200 * payload.size(); }));
  stop.store(true, std::memory_order_relaxed);
  other.join();
  EXPECT_EQ(target, payload);
}

INSTANTIATE_TEST_SUITE_P(rails, contract_memory, ::testing::ValuesIn(kinds()),
                         [](const auto& tested) { return tested.param.name; });

/// rails/health.hpp, for the kinds that have it.
class contract_health : public ::testing::TestWithParam<kind> {
 protected:
  /// Two drivers that have exchanged packets; none if the kind has no health.
  void SetUp() override {
    if (!GetParam().reaches_others) GTEST_SKIP() << "there is no connection";
    both.emplace(GetParam(), 2);
    if (!both->first()->health()) GTEST_SKIP() << "its connections live as long as its peers";
    ASSERT_NE(both->push({.header = bytes_of("hello")}), post::retry);
    ASSERT_TRUE(both->run_until([&] { return both->last().received.size() == 1; }));
  }
  std::optional<world> both;
};

TEST_P(contract_health, sever_ends_in_lost_once_at_both_ends) {
  auto& w = *both;
  w.first()->health()->sever(w.last_id());
  w.first()->health()->sever(w.last_id());
  ASSERT_TRUE(w.run_until([&] { return !w.first().lost.empty() && !w.last().lost.empty(); }));
  for (int i = 0; i < 50; ++i) {
    w.first().step();
    w.last().step();
  }
  EXPECT_EQ(w.first().lost.size(), 1u);
  EXPECT_EQ(w.last().lost.size(), 1u);
  EXPECT_EQ(w.first()->send(w.last_id(), {.header = bytes_of("x")}), post::down);
}

TEST_P(contract_health, revive_at_both_ends_ends_in_restored_and_packets_pass_again) {
  auto& w = *both;
  for (std::size_t round = 1; round <= 2; ++round) {
    w.first()->health()->sever(w.last_id());
    ASSERT_TRUE(w.run_until(
        [&] { return w.first().lost.size() == round && w.last().lost.size() == round; }));
    w.first()->health()->revive(w.last_id());
    w.last()->health()->revive(w.first_id());
    ASSERT_TRUE(w.run_until(
        [&] { return w.first().restored.size() == round && w.last().restored.size() == round; }));
    ASSERT_NE(w.push({.header = bytes_of("again")}), post::down);
    EXPECT_TRUE(w.run_until([&] { return w.last().received.size() == 1 + round; }));
  }
}

TEST_P(contract_health, revive_does_nothing_to_a_peer_that_is_not_lost) {
  auto& w = *both;
  w.first()->health()->revive(w.last_id());
  ASSERT_NE(w.push({.header = bytes_of("more")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 2; }));
  EXPECT_TRUE(w.first().restored.empty());
}

TEST_P(contract_health, operations_of_memory_fail_when_the_connection_is_cut) {
  auto& w = *both;
  if (!w.first()->memory()->limits_to(w.last_id()).get) GTEST_SKIP() << "it has no get";
  std::vector<std::byte> source(1000), got(1000);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  const auto said = w.get({.exposed = shown}, got, 3);  // the last one reaps no more
  w.first()->health()->sever(w.last_id());
  for (int i = 0; i < 10'000 && w.first().lost.empty(); ++i) w.first().step();
  ASSERT_EQ(w.first().lost.size(), 1u);
  EXPECT_EQ(w.first().sent.size() + w.first().failed.size(), said == post::posted ? 1u : 0u);
  w.last()->memory()->withdraw(shown);  // what was asked may not have been read yet
}

TEST_P(contract_health, a_flush_fails_when_the_connection_is_cut) {
  auto& w = *both;
  if (!w.first()->memory()->limits_to(w.last_id()).flush) GTEST_SKIP() << "this rail has no flush";
  auto said = post::retry;
  for (int tries = 0; tries < 1000 && said == post::retry; ++tries)
    said = w.first()->memory()->flush(w.last_id(), 3);  // the last one reaps no more
  ASSERT_EQ(said, post::posted);
  w.first()->health()->sever(w.last_id());
  for (int i = 0; i < 10'000 && w.first().lost.empty(); ++i) w.first().step();
  ASSERT_EQ(w.first().lost.size(), 1u);
  EXPECT_TRUE(w.first().sent.empty());
  EXPECT_EQ(w.first().failed.size(), 1u);
}

TEST_P(contract_health, last_activity_is_recent_after_a_packet_and_unknown_of_other_processes) {
  auto& w = *both;
  EXPECT_GT(w.first()->health()->last_activity_ns(w.last_id()), 0u);
  EXPECT_EQ(w.first()->health()->last_activity_ns(peer_id{1000}), 0u);
}

INSTANTIATE_TEST_SUITE_P(rails, contract_health, ::testing::ValuesIn(kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
