#pragma once

#include <cstdint>
#include <span>

#include "sampling/division.hpp"

namespace headway::sampling {

/// Does a packet of `bytes` gain more by leaving in parts, each given to its rail by a processor
/// of its own, than waking those processors costs?
///
/// `ways[0]` is the caller's own, who is awake; each of the others is served by a thread that runs
/// `wake_ns` later. If so, `shares` says who carries how much: `shares[0]` and at least one of the
/// others are not 0, none is below `least`.
/// Shape:    two divisions; below 1 us for four rails.
/// Source:   multirail08, section III-D: 3 us for a core that is idle, 6 with pre-emption, there.
[[nodiscard]] bool cutting_pays(std::span<const way> ways, std::uint64_t bytes, double wake_ns,
                                std::span<std::uint64_t> shares, std::uint64_t least) noexcept;

}  // namespace headway::sampling
