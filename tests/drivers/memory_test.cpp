// The contract of rails/memory.hpp, a test per sentence, for every kind of driver in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "memory_fixture.hpp"

namespace headway::rails::testing {
namespace {

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

TEST_P(contract_memory, limits_stay_the_same_while_bytes_move) {
  auto w = make_world();
  const auto all = [&] {
    const auto l = limits_of(w);
    return std::tuple(l.put, l.get, l.atomic, l.flush, l.notifies, l.direct, l.large);
  };
  const auto before = all();
  const auto payload = pattern(200'000, 3);
  std::vector<std::byte> target(payload.size());
  const ticket shown = show(*w.last(), {.bytes = target});
  ASSERT_TRUE(w.ends_well(w.put({.exposed = shown}, payload, 1), 1));
  ASSERT_TRUE(w.run_until([&] { return w.last().landed_bytes == payload.size(); }));
  EXPECT_EQ(all(), before);
}

TEST_P(contract_memory, what_a_large_get_took_is_known_to_any_thread_where_the_way_is_measured) {
  auto w = make_world();
  if (limits_of(w).large != sooner_by::measured) GTEST_SKIP() << "the faster way is known";
  const auto get_costs = [&] { return w.first()->memory()->costs_with(w.last_id()).get; };
  EXPECT_EQ(get_costs(), 0u);
  auto source = pattern(100'000, 3);
  std::vector<std::byte> got(source.size());
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  std::atomic<bool> known{false}, over{false};
  std::thread other([&] {
    while (!known && !over) known = get_costs() != 0;
  });
  for (std::uint64_t i = 0; !known && i < 10'000; ++i)
    EXPECT_TRUE(w.ends_well(w.get({.exposed = shown}, got, i), i));
  over = true;
  other.join();
  EXPECT_TRUE(known);
  EXPECT_EQ(got, source);
}

/// What `put(place, payload, cookie)` takes reaches the last driver as it was, although it changes
/// as soon as that has returned.
template <class Put>
void expect_that_the_payload_may_change_after(world& w, Put put) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{20'000}, std::size_t{2'000'000}}) {
    auto payload = pattern(size, 6);
    const auto wanted = payload;
    std::vector<std::byte> target(size);
    const ticket shown = show(*w.last(), {.bytes = target});
    const auto had = w.last().landed_bytes;
    put(remote_place{.exposed = shown}, payload, size);
    std::ranges::fill(payload, std::byte{0xee});
    ASSERT_TRUE(w.run_until([&] { return w.last().landed_bytes == had + size; }));
    EXPECT_EQ(target, wanted) << size;
    w.last()->memory()->withdraw(shown);
  }
}

TEST_P(contract_memory, what_was_put_may_be_reused_when_its_put_has_ended) {
  auto w = make_world();
  expect_that_the_payload_may_change_after(
      w, [&](const remote_place& to, std::span<const std::byte> payload, std::uint64_t cookie) {
        EXPECT_TRUE(w.ends_well(w.put(to, payload, cookie), cookie));
      });
}

TEST_P(contract_memory, what_was_lent_to_a_put_may_change_when_it_is_reclaimed) {
  auto w = make_world();
  expect_that_the_payload_may_change_after(
      w, [&](const remote_place& to, std::span<const std::byte> payload, std::uint64_t cookie) {
        EXPECT_TRUE(w.ends_well(w.put_lent(to, payload, cookie), cookie));
        w.first()->reclaim(w.last_id());
      });
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

TEST_P(contract_memory, to_withdraw_twice_has_no_effect_on_what_is_exposed_later) {
  auto w = make_world();
  const auto payload = pattern(1000, 5);
  std::vector<std::byte> target(payload.size());
  const ticket gone = show(*w.last(), {.bytes = target});
  w.last()->memory()->withdraw(gone);
  const ticket shown = show(*w.last(), {.bytes = target});
  w.last()->memory()->withdraw(gone);
  ASSERT_TRUE(w.ends_well(w.put({.exposed = shown}, payload, 1), 1));
  EXPECT_TRUE(w.run_until([&] { return w.last().landed_bytes == payload.size(); }));
  EXPECT_EQ(target, payload);
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

TEST_P(contract_memory, no_atomic_of_several_peers_is_lost) {
  if (!GetParam().reaches_others) GTEST_SKIP() << "it has no peers";
  world w(GetParam(), 3);
  if (!limits_of(w).atomic) GTEST_SKIP() << "this rail has no atomics";
  constexpr std::size_t count = 200, origins = 2;
  alignas(8) std::uint64_t word = 0;
  const ticket shown = show(
      *w.last(), {.bytes = std::as_writable_bytes(std::span(&word, 1)), .rights = access::atomic});
  std::vector<std::uint64_t> before(origins * count);
  std::array<std::size_t, origins> posted{};
  for (std::size_t i = 0; i < before.size(); ++i) {
    auto& origin = w.stations[i % origins];
    post said;
    do {
      for (auto& each : w.stations) each.step();
      said = origin->memory()->atomic(w.last_id(), {.exposed = shown},
                                      {.what = operation::add, .operand = 1}, before[i], i);
    } while (said == post::retry);
    posted[i % origins] += said == post::posted ? 1 : 0;
  }
  ASSERT_TRUE(w.run_until([&] {
    return w.stations[0].sent.size() == posted[0] && w.stations[1].sent.size() == posted[1];
  }));
  std::ranges::sort(before);
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], i);
}

TEST_P(contract_memory, no_atomic_access_of_the_exposing_process_itself_is_lost) {
  auto w = make_world();
  if (!limits_of(w).atomic) GTEST_SKIP() << "this rail has no atomics";
  constexpr std::uint64_t count = 300, own = 100'000;
  alignas(8) std::uint64_t word = 0;
  const ticket shown = show(
      *w.last(), {.bytes = std::as_writable_bytes(std::span(&word, 1)), .rights = access::atomic});
  std::thread other([&] {
    for (std::uint64_t i = 0; i < own; ++i)
      std::atomic_ref(word).fetch_add(1, std::memory_order_relaxed);
  });
  std::vector<std::uint64_t> before(count);
  for (std::uint64_t i = 0; i < count; ++i)
    EXPECT_TRUE(w.ends_well(
        w.atomic({.exposed = shown}, {.what = operation::add, .operand = 1}, before[i], i), i));
  other.join();
  EXPECT_EQ(word, count + own);
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

}  // namespace
}  // namespace headway::rails::testing
