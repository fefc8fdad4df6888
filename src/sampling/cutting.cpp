#include "sampling/cutting.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace headway::sampling {

bool cutting_pays(std::span<const way> ways, std::uint64_t bytes, double wake_ns,
                  std::span<std::uint64_t> shares, std::uint64_t least) noexcept {
  HEADWAY_DEBUG_ASSERT(wake_ns >= 0);
  std::ranges::fill(shares, 0);
  ways = ways.first(std::min({ways.size(), shares.size(), ways_max}));
  if (ways.size() < 2 || bytes < 2 * least) return false;
  shares = shares.first(ways.size());
  double alone = end_of(ways[0], bytes);
  for (const auto& w : ways) alone = std::min(alone, end_of(w, bytes));
  // The gain with all threads awake must exceed the cost of waking them …
  if (alone - divide(ways, bytes, shares, least) <= wake_ns) return false;
  // … and the parts must be cut so that all end together although some begin later.
  std::array<way, ways_max> late;
  std::ranges::copy(ways, late.begin());
  for (std::size_t i = 1; i < ways.size(); ++i) late[i].busy_ns += wake_ns;
  if (divide(std::span(late).first(ways.size()), bytes, shares, least) >= alone) return false;
  return shares[0] != 0 && shares[0] != bytes;
}

}  // namespace headway::sampling
