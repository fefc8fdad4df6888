#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wireup/nic_addresses.hpp"

namespace headway::wireup {

/// How directly two rails of one driver reach each other, from their addresses; symmetric. 0: not
/// at all.
enum class nearness : std::uint8_t {
  none,
  routed,  ///< through a gateway; the kernel chooses the interface
  direct,  ///< on one network
  inside,  ///< within one machine
  same,    ///< within one machine and on the same interface
};
using nearness_of = nearness (*)(std::span<const std::byte>, std::span<const std::byte>);

/// Pairs our interfaces with the peer's, by the addresses of their first rails: nearest first, each
/// in at most one pair. Both sides compute the same pairs: `we_are_lower` tells which of the two
/// has the smaller name (job, rank).
///
/// A second routed pair would use the same interface as the first, or as a direct pair: one is
/// made, and none if there are direct pairs. Without a `judge` the rails are paired in order.
[[nodiscard]] std::vector<std::optional<std::size_t>> pair_rails(
    std::span<const rail_address> ours, std::span<const rail_address> theirs, nearness_of judge,
    bool we_are_lower);

}  // namespace headway::wireup
