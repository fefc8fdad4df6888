#pragma once

#include <cstdint>
#include <span>

#include "sampling/division.hpp"

namespace headway::sampling {

/// Whether a packet of `bytes` gains more by leaving in parts, each given to its rail by another
/// processor, than it costs to wake those processors.
///
/// The calling thread serves `ways[0]`; threads that run `wake_ns` later serve the others. If it
/// pays, `shares` divides the bytes: `shares[0]` and at least one other share are not 0, and no
/// other is below `least`.
/// Shape:    two divisions; below 1 us for four rails.
/// Source:   multirail08, section III-D, where it is 3 us for an idle core, 6 with pre-emption.
[[nodiscard]] bool cutting_pays(std::span<const way> ways, std::uint64_t bytes, double wake_ns,
                                std::span<std::uint64_t> shares, std::uint64_t least) noexcept;

}  // namespace headway::sampling
