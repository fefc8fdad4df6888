#include "processes/membership.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

using namespace headway::processes;

namespace {

using numbers = std::vector<std::uint32_t>;

membership of(const numbers& wanted) {
  std::vector<peer_id> peers;
  for (const auto each : wanted) peers.push_back(peer_id{each});
  return membership(peers);
}

numbers sequence(std::uint32_t first, std::uint32_t count, std::uint32_t stride = 1) {
  numbers made(count);
  for (std::uint32_t i = 0; i < count; ++i) made[i] = first + i * stride;
  return made;
}

/// Both directions, for every process up to the last one and a few beyond.
void expect_same(const membership& got, const numbers& wanted) {
  ASSERT_EQ(static_cast<std::size_t>(got.size()), wanted.size());
  EXPECT_EQ(got.empty(), wanted.empty());
  const auto highest = wanted.empty() ? 0 : *std::ranges::max_element(wanted);
  std::vector<int> ranks(highest + 4, -1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[static_cast<int>(i)], peer_id{wanted[i]}) << "rank " << i;
    ranks[wanted[i]] = static_cast<int>(i);
  }
  for (std::uint32_t peer = 0; peer < ranks.size(); ++peer) {
    ASSERT_EQ(got.rank_of(peer_id{peer}).value_or(-1), ranks[peer]) << "peer " << peer;
    ASSERT_EQ(got.contains(peer_id{peer}), ranks[peer] >= 0);
  }
  EXPECT_TRUE(std::ranges::equal(got.peers(), wanted, {}, {},
                                 [](std::uint32_t each) { return peer_id{each}; }));
}

using dice = std::mt19937;

std::uint32_t draw(dice& d, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(d);
}

numbers some_ranges(dice& d) {
  numbers made;
  for (std::uint32_t at = 0, n = draw(d, 1, 12); n > 0; --n) {
    at += draw(d, 0, 9);
    const auto part = sequence(at, draw(d, 1, 20));
    made.insert(made.end(), part.begin(), part.end());
    at = made.back() + 1;
  }
  return made;
}

numbers some_subset(dice& d) {
  numbers made;
  for (std::uint32_t each = 0, n = draw(d, 0, 200); each < n; ++each)
    if (draw(d, 0, 2) != 0) made.push_back(each);
  return made;
}

/// As a launcher that places ranks in turn on nodes leaves it to a program that orders by node.
numbers in_turns(dice& d) {
  numbers made;
  const auto nodes = draw(d, 1, 9), each = draw(d, 1, 9);
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t i = 0; i < each; ++i) made.push_back(node + i * nodes);
  return made;
}

/// Runs of several strides and directions, one behind the other.
numbers some_runs(dice& d) {
  numbers made;
  std::uint32_t at = 0;
  for (auto n = draw(d, 1, 8); n > 0; --n) {
    auto part = sequence(at + draw(d, 0, 5), draw(d, 1, 9), draw(d, 1, 6));
    at = part.back() + 1;
    if (draw(d, 0, 1) != 0) std::ranges::reverse(part);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

numbers drawn(dice& d) {
  numbers made;
  switch (draw(d, 0, 4)) {
    case 0:
      made = sequence(draw(d, 0, 50), draw(d, 0, 40), draw(d, 1, 7));
      break;
    case 1:
      made = some_ranges(d);
      break;
    case 2:
      made = some_subset(d);
      break;
    case 3:
      made = in_turns(d);
      break;
    default:
      made = some_runs(d);
  }
  switch (draw(d, 0, 5)) {
    case 0:
      std::ranges::reverse(made);
      break;
    case 1:
      std::ranges::shuffle(made, d);
      break;
    case 2:
      if (!made.empty())
        std::ranges::rotate(made,
                            made.begin() + draw(d, 0, static_cast<std::uint32_t>(made.size() - 1)));
      break;
    default:
      break;
  }
  return made;
}

TEST(membership, answers_like_a_list_whatever_the_processes_are) {
  dice d(12);
  for (int turn = 0; turn < 2000 && !testing::Test::HasFailure(); ++turn) {
    SCOPED_TRACE(turn);
    const numbers wanted = drawn(d);
    expect_same(of(wanted), wanted);
  }
}

TEST(membership, is_equal_exactly_where_the_lists_are) {
  dice d(13);
  for (int turn = 0; turn < 1000; ++turn) {
    const numbers one = drawn(d);
    numbers other = draw(d, 0, 1) != 0 ? drawn(d) : one;
    if (!other.empty() && draw(d, 0, 2) == 0) std::swap(other.front(), other.back());
    const membership a = of(one), b = of(other);
    ASSERT_EQ(a == b, one == other);
    if (one == other) {
      ASSERT_EQ(a.hash(), b.hash());
    }
  }
}

TEST(membership, a_run_is_the_same_however_it_is_made) {
  EXPECT_EQ(membership(peer_id{3}, 4, 5), of({3, 8, 13, 18}));
  EXPECT_EQ(membership(peer_id{9}, 3, -4), of({9, 5, 1}));
  EXPECT_EQ(membership(peer_id{9}, 1, 7), of({9}));
  EXPECT_EQ(membership(peer_id{9}, 0, 7), of({}));
  EXPECT_EQ(membership(), of({}));
  EXPECT_EQ(*consecutive(3, peer_id{1}), of({1, 2, 3}));
  EXPECT_EQ(*consecutive(2), of({0, 1}));
}

TEST(membership, of_many_ranks_in_one_run_takes_a_few_words) {
  constexpr std::uint32_t ranks = 10'000;
  static_assert(sizeof(membership) <= 32);
  EXPECT_EQ(of(sequence(0, ranks)).bytes(), sizeof(membership));
  EXPECT_EQ(of(sequence(7, ranks, 12)).bytes(), sizeof(membership));
  numbers backwards = sequence(0, ranks);
  std::ranges::reverse(backwards);
  EXPECT_EQ(of(backwards).bytes(), sizeof(membership));
}

TEST(membership, of_a_few_ranges_or_strides_grows_with_them_and_not_with_the_ranks) {
  numbers blocks;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const numbers block = sequence(2000 * i, 1000);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  expect_same(of(blocks), blocks);
  EXPECT_LE(of(blocks).bytes(), 512u);

  numbers by_node;  // 10 000 ranks that were placed in turn on 20 nodes
  for (std::uint32_t node = 0; node < 20; ++node) {
    const numbers there = sequence(node, 500, 20);
    by_node.insert(by_node.end(), there.begin(), there.end());
  }
  expect_same(of(by_node), by_node);
  EXPECT_LE(of(by_node).bytes(), 1024u);
}

TEST(membership, without_any_order_takes_eight_bytes_a_rank) {
  dice d(14);
  numbers mixed = sequence(0, 10'000);
  std::ranges::shuffle(mixed, d);
  expect_same(of(mixed), mixed);
  EXPECT_LE(of(mixed).bytes(), 8 * mixed.size() + 256);
}

TEST(membership, finds_no_process_in_an_empty_one) {
  const membership nobody;
  EXPECT_TRUE(nobody.empty());
  EXPECT_FALSE(nobody.contains(peer_id{0}));
  EXPECT_TRUE(std::ranges::empty(nobody.peers()));
}

TEST(membership, reaches_to_the_highest_process) {
  constexpr std::uint32_t highest = (std::uint32_t{1} << 31) - 1;
  expect_same(of({0, 1}), {0, 1});
  const membership wide(peer_id{0}, 2, static_cast<std::int32_t>(highest));
  EXPECT_EQ(wide[1], peer_id{highest});
  EXPECT_EQ(wide.rank_of(peer_id{highest}), 1);
  EXPECT_FALSE(wide.contains(peer_id{1}));
  const membership three = of({highest, 0, highest - 1});
  EXPECT_EQ(three.rank_of(peer_id{highest}), 0);
  EXPECT_EQ(three.rank_of(peer_id{highest - 1}), 2);
}

TEST(membership, refuses_a_process_that_comes_twice) {
  EXPECT_DEATH(of({4, 4}), "stride_ != 0");
#ifndef NDEBUG
  EXPECT_DEATH(of({4, 9, 1, 4}), "rank_of");
  EXPECT_DEATH(of({1, 2, 3, 2}), "rank_of");
#endif
}

TEST(membership_set, equal_groups_share_one_object) {
  membership_set all;
  dice d(15);
  for (int turn = 0; turn < 200; ++turn) {
    const numbers wanted = drawn(d);
    const membership_ref first = all.intern(of(wanted)), second = all.intern(of(wanted));
    ASSERT_EQ(first, second);
    ASSERT_EQ(*first, of(wanted));
  }
  EXPECT_NE(all.intern(of({1, 2})), all.intern(of({2, 1})));
}

TEST(membership_set, keeps_what_is_in_use_only) {
  membership_set all;
  membership_ref one = all.intern(of({1, 2})), same = all.intern(of({1, 2}));
  const membership_ref other = all.intern(of({1, 3, 9}));
  EXPECT_EQ(all.size(), 2u);
  one.reset();
  EXPECT_EQ(all.size(), 2u);
  same.reset();
  EXPECT_EQ(all.size(), 1u);
}

TEST(membership_set, may_go_before_its_memberships) {
  auto all = std::make_unique<membership_set>();
  const membership_ref left = all->intern(of({5, 3, 1, 0}));
  all.reset();
  expect_same(*left, {5, 3, 1, 0});
}

TEST(membership_set, threads_that_make_and_drop_the_same_groups_share_them) {
  membership_set all;
  std::vector<numbers> groups;
  dice d(16);
  for (int i = 0; i < 8; ++i) groups.push_back(drawn(d));
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (unsigned turn = 0; turn < 500; ++turn) {
          const numbers& wanted = groups[(turn * (t + 1)) % groups.size()];
          const membership_ref one = all.intern(of(wanted)), other = all.intern(of(wanted));
          ASSERT_EQ(one, other);
          ASSERT_EQ(*one, of(wanted));
        }
      });
  }
  EXPECT_EQ(all.size(), 0u);
}

}  // namespace
