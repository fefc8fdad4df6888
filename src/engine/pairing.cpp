#include "engine/pairing.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace headway::engine {

std::vector<std::byte> pack_addresses(std::span<const rail_address> addresses) {
  HEADWAY_ASSERT(addresses.size() < 256);
  std::vector<std::byte> packed{static_cast<std::byte>(addresses.size())};
  for (const auto& a : addresses) {
    HEADWAY_ASSERT(a.size() < 65536);
    packed.push_back(static_cast<std::byte>(a.size() & 0xff));
    packed.push_back(static_cast<std::byte>(a.size() >> 8));
    packed.insert(packed.end(), a.begin(), a.end());
  }
  return packed;
}

base::result<std::vector<rail_address>> unpack_addresses(std::span<const std::byte> bytes) {
  const auto nonsense = [] {
    return base::failed(base::fault_kind::bad_input, "a list of rails' addresses makes no sense");
  };
  if (bytes.empty()) return nonsense();
  std::vector<rail_address> all(static_cast<std::size_t>(bytes[0]));
  bytes = bytes.subspan(1);
  for (auto& a : all) {
    if (bytes.size() < 2) return nonsense();
    const auto length = static_cast<std::size_t>(bytes[0]) | static_cast<std::size_t>(bytes[1])
                                                                 << 8;
    bytes = bytes.subspan(2);
    if (bytes.size() < length) return nonsense();
    a.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    bytes = bytes.subspan(length);
  }
  if (!bytes.empty()) return nonsense();
  return all;
}

namespace {

struct pair {
  nearness near = nearness::none;
  std::size_t low = 0;  // of the side with the smaller rank
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

}  // namespace headway::engine
