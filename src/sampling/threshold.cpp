#include "sampling/threshold.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "sampling/division.hpp"

namespace headway::sampling {

std::uint64_t dividing_pays_from(std::span<const profile* const> rails,
                                 std::uint64_t packet_bytes_max,
                                 std::uint64_t piece_bytes_min) noexcept {
  std::array<way, ways_max> ways;
  std::array<std::uint64_t, ways_max> shares;
  rails = rails.first(std::min(rails.size(), ways_max));
  if (rails.empty()) return packet_bytes_max;
  HEADWAY_ASSERT(std::ranges::none_of(rails, [](const auto* each) { return each == nullptr; }));
  for (std::size_t i = 0; i < rails.size(); ++i) ways[i] = {.time = &rails[i]->piece};
  const auto packet_ns = [&](std::uint64_t bytes) {
    double best = rails[0]->eager.ns_for(bytes);
    for (const auto* r : rails) best = std::min(best, r->eager.ns_for(bytes));
    return best;
  };
  const double announcing_ns = 2 * packet_ns(1);
  return threshold(packet_bytes_max, [&](std::uint64_t bytes) {
    const double divided = divide(std::span(ways).first(rails.size()), bytes,
                                  std::span(shares).first(rails.size()), piece_bytes_min);
    return announcing_ns + divided <= packet_ns(bytes);
  });
}

}  // namespace headway::sampling
