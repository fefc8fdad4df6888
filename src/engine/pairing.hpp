#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/doors.hpp"

namespace headway::engine {

/// How directly two rails of one driver reach each other, from their addresses; the same seen from
/// either side. 0: not at all.
enum class nearness : std::uint8_t {
  none,
  routed,  ///< by way of others; which way out is not ours to say
  direct,  ///< on one network
  inside,  ///< within one machine
  same,    ///< within one machine and on the same interface
};
using nearness_of = nearness (*)(std::span<const std::byte>, std::span<const std::byte>);

/// Which of their doors each of ours talks to, by the addresses of the doors' first rails: nearest
/// first, each in one pair at most. Both sides come to the same pairs: `we_are_lower` says which of
/// the two has the smaller rank.
///
/// A second routed pair would leave by the same door as the first, or as a direct one: one is made,
/// and none beside direct ones. Without a `judge` the rails pair in order.
[[nodiscard]] std::vector<std::optional<std::size_t>> pair_rails(
    std::span<const rail_address> ours, std::span<const rail_address> theirs, nearness_of judge,
    bool we_are_lower);

}  // namespace headway::engine
