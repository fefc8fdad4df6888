// The errors of rails/memory.hpp, a test per sentence: what a peer requests without the right to it
// is never touched.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "memory_fixture.hpp"

namespace headway::rails::testing {
namespace {

TEST_P(contract_memory, what_the_limits_do_not_name_is_down_and_changes_nothing) {
  auto w = make_world();
  const auto limits = limits_of(w);
  alignas(8) std::uint64_t word = 3;
  std::uint64_t was = 7;
  const ticket shown = show(*w.last(), {.bytes = std::as_writable_bytes(std::span(&word, 1)),
                                        .rights = access::get | access::atomic});
  std::array<std::byte, 8> got{};
  if (!limits.get) {
    EXPECT_EQ(w.get({.exposed = shown}, got, 1), post::down);
  }
  if (!limits.atomic) {
    EXPECT_EQ(w.atomic({.exposed = shown}, {.what = operation::swap}, was, 2), post::down);
  }
  if (!limits.flush) {
    EXPECT_EQ(w.flush(3), post::down);
  }
  EXPECT_TRUE(limits.large == sooner_by::put || limits.direct);
  for (int i = 0; i < 20; ++i) w.last().step();
  EXPECT_EQ(word, 3u);
  EXPECT_TRUE(w.first().sent.empty() && w.first().failed.empty());
}

/// A put to 100 bytes of the last driver that are exposed as `what` says ends as sent and changes
/// nothing.
void expect_that_a_put_is_dropped(world& w, exposure what) {
  std::vector<std::byte> target(100), other(100, std::byte{1});
  what.bytes = target;
  const ticket shown = show(*w.last(), what);
  ASSERT_TRUE(w.ends_well(w.put({.exposed = shown}, other, 1), 1));
  ASSERT_NE(w.push({.header = bytes_of("behind it")}), post::retry);
  ASSERT_TRUE(w.run_until([&] { return w.last().received.size() == 1; }));
  for (int i = 0; i < 20; ++i) w.last().step();
  EXPECT_EQ(target, std::vector<std::byte>(100));
  EXPECT_TRUE(w.last().landed_tokens.empty());
}

TEST_P(contract_memory, a_put_by_a_peer_that_is_not_allowed_changes_nothing) {
  auto w = make_world();
  expect_that_a_put_is_dropped(w, {.who = process_set::only(peer_id{7})});
}

TEST_P(contract_memory, a_put_without_the_right_to_it_changes_nothing_and_ends_as_sent) {
  auto w = make_world();
  if (limits_of(w).direct) GTEST_SKIP() << "the kernel copies without asking the peer";
  expect_that_a_put_is_dropped(w, {.rights = access::get});
}

TEST_P(contract_memory, a_put_out_of_bounds_changes_nothing_whether_or_not_its_sender_is_lost) {
  if (!GetParam().reaches_others) GTEST_SKIP() << "a bug of the process itself";
  for (const std::uint64_t offset : {std::uint64_t{1}, std::uint64_t{100}, ~std::uint64_t{150}}) {
    auto w = make_world();
    std::vector<std::byte> all(300), other(100, std::byte{1});
    ticket forged = show(*w.last(), {.bytes = std::span(all).subspan(100, 100)});
    forged.bytes = ~std::uint64_t{0};
    static_cast<void>(w.put({.exposed = forged, .offset = offset}, other, 1));
    static_cast<void>(w.push({.header = bytes_of("behind it")}));
    ASSERT_TRUE(w.run_until([&] { return !w.last().received.empty() || !w.last().lost.empty(); }));
    for (int i = 0; i < 20; ++i) w.last().step();
    EXPECT_EQ(all, std::vector<std::byte>(300)) << offset;
    EXPECT_TRUE(w.last().landed_tokens.empty());
  }
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

TEST_P(contract_memory, a_get_out_of_bounds_fails) {
  auto w = make_world();
  const auto limits = limits_of(w);
  if (!limits.get) GTEST_SKIP() << "this rail, or this kernel, reads no other memory";
  if (limits.direct) GTEST_SKIP() << "the kernel copies without asking the peer";
  auto source = pattern(100, 4);
  std::vector<std::byte> got(50);
  const ticket shown = show(*w.last(), {.bytes = source, .rights = access::get});
  EXPECT_TRUE(w.ends_well(w.get({.exposed = shown, .offset = 50}, got, 1), 1));
  ticket forged = shown;
  forged.bytes = ~std::uint64_t{0};
  EXPECT_FALSE(w.ends_well(w.get({.exposed = forged, .offset = 51}, got, 2), 2));
  EXPECT_FALSE(w.ends_well(w.get({.exposed = forged, .offset = ~std::uint64_t{150}}, got, 3), 3));
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
  ticket forged = shown;
  forged.bytes = ~std::uint64_t{0};
  EXPECT_FALSE(w.ends_well(
      w.atomic({.exposed = forged, .offset = 16}, {.what = operation::swap}, before, 3), 3));
  w.last()->memory()->withdraw(shown);
  EXPECT_FALSE(w.ends_well(w.atomic({.exposed = shown}, {.what = operation::swap}, before, 2), 2));
  const ticket only_put = show(*w.last(), {.bytes = bytes});
  EXPECT_FALSE(
      w.ends_well(w.atomic({.exposed = only_put}, {.what = operation::swap}, before, 4), 4));
  EXPECT_EQ(words, (std::array<std::uint64_t, 2>{1, 2}));
}

}  // namespace
}  // namespace headway::rails::testing
