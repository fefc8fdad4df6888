#include "wireup/rail_matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headway::wireup {
namespace {

using pairs = std::vector<std::optional<std::size_t>>;
using rails = std::vector<rail_address>;

/// A rail with a network and a host: "1a" and "1b" are on network 1, "1a" and "2a" on host a.
rail_address at(const char* text) {
  const std::string_view s(text);
  rail_address made;
  for (const char c : s) made.push_back(static_cast<std::byte>(c));
  return made;
}

nearness judge(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a[0] == std::byte{'x'} || b[0] == std::byte{'x'}) return nearness::none;
  if (a[1] == b[1]) return a[0] == b[0] ? nearness::same : nearness::inside;
  return a[0] == b[0] ? nearness::direct : nearness::routed;
}

TEST(rail_matching, rails_on_one_network_belong_together) {
  const rails ours{at("1a"), at("2a")};
  const rails theirs{at("2b"), at("3b"), at("1b")};
  EXPECT_EQ(pair_rails(ours, theirs, judge, true), (pairs{2, 0}));
}

TEST(rail_matching, of_several_on_one_network_each_is_used_once) {
  const rails ours{at("1a"), at("1a"), at("1a")};
  const rails theirs{at("1b"), at("1b")};
  EXPECT_EQ(pair_rails(ours, theirs, judge, true), (pairs{0, 1, std::nullopt}));
}

TEST(rail_matching, a_routed_way_is_made_once_and_not_beside_a_direct_one) {
  const rails ours{at("1a"), at("2a")};
  const rails far{at("8b"), at("9b")};
  const rails mixed{at("9b"), at("2b")};
  EXPECT_EQ(pair_rails(ours, far, judge, true), (pairs{0, std::nullopt}));
  EXPECT_EQ(pair_rails(ours, mixed, judge, true), (pairs{std::nullopt, 1}));
}

TEST(rail_matching, what_does_not_reach_is_not_paired) {
  const rails ours{at("1a"), at("xa")};
  EXPECT_EQ(pair_rails(ours, rails{at("xb")}, judge, true), (pairs{{}, {}}));
  EXPECT_EQ(pair_rails(ours, {}, judge, false), (pairs{{}, {}}));
  EXPECT_EQ(pair_rails({}, ours, judge, false), pairs{});
}

TEST(rail_matching, without_a_judge_rails_pair_in_order) {
  const rails ours{at("1a"), at("2a")};
  EXPECT_EQ(pair_rails(ours, rails{at("9b")}, nullptr, true), (pairs{0, {}}));
}

TEST(rail_matching, both_sides_come_to_the_same_pairs) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto any = [&](char host) {
      std::vector<rail_address> made(random() % 6);
      for (auto& a : made) {
        const char text[] = {static_cast<char>("1234x"[random() % 5]), host, 0};
        a = at(text);
      }
      return made;
    };
    const auto low = any('a');
    const auto high = any(random() % 4 == 0 ? 'a' : 'b');
    const auto seen_low = pair_rails(low, high, judge, true);
    const auto seen_high = pair_rails(high, low, judge, false);
    for (std::size_t i = 0; i < seen_low.size(); ++i)
      if (seen_low[i]) {
        ASSERT_EQ(seen_high[*seen_low[i]], i);
      }
    const auto paired = [](const auto& p) { return p.has_value(); };
    ASSERT_EQ(std::ranges::count_if(seen_low, paired), std::ranges::count_if(seen_high, paired));
  }
}

}  // namespace
}  // namespace headway::wireup
