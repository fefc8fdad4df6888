#include "wireup/rail_matching.hpp"

#include <algorithm>

namespace headway::wireup {

namespace {

struct pair {
  nearness near = nearness::none;
  std::size_t low = 0;  // of the side with the smaller name
  std::size_t high = 0;
};

std::vector<pair> all_pairs(std::span<const rail_address> low, std::span<const rail_address> high,
                            nearness_of judge) {
  std::vector<pair> all;
  for (std::size_t i = 0; i < low.size(); ++i)
    for (std::size_t j = 0; j < high.size(); ++j) {
      const auto near = judge ? judge(low[i], high[j]) : i == j ? nearness::same : nearness::none;
      if (near != nearness::none) all.push_back({.near = near, .low = i, .high = j});
    }
  std::ranges::stable_sort(all, std::ranges::greater(), &pair::near);
  return all;
}

}  // namespace

std::vector<std::optional<std::size_t>> pair_rails(std::span<const rail_address> ours,
                                                   std::span<const rail_address> theirs,
                                                   nearness_of judge, bool we_are_lower) {
  const auto& low = we_are_lower ? ours : theirs;
  const auto& high = we_are_lower ? theirs : ours;
  std::vector<std::optional<std::size_t>> of_low(low.size());
  std::vector<std::optional<std::size_t>> of_high(high.size());
  bool any = false;
  for (const auto& p : all_pairs(low, high, judge)) {
    if (of_low[p.low] || of_high[p.high] || (any && p.near == nearness::routed)) continue;
    of_low[p.low] = p.high;
    of_high[p.high] = p.low;
    any = true;
  }
  return we_are_lower ? of_low : of_high;
}

}  // namespace headway::wireup
