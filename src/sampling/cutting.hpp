#pragma once

#include <cstdint>
#include <span>

#include "sampling/division.hpp"

namespace headway::sampling {

/// Does a packet of `bytes` gain more by leaving in parts, each given to its rail by a processor
/// of its own, than waking those processors costs?
///
/// The calling thread serves `ways[0]`; a thread that runs `wake_ns` later serves each other way.
/// If it does, `shares` divides the bytes: `shares[0]` and at least one other share are not 0, and
/// none is below `least`.
/// Shape:    two divisions; below 1 us for four rails.
/// Source:   multirail08, section III-D: 3 us for a core that is idle, 6 with pre-emption, there.
[[nodiscard]] bool cutting_pays(std::span<const way> ways, std::uint64_t bytes, double wake_ns,
                                std::span<std::uint64_t> shares, std::uint64_t least) noexcept;

}  // namespace headway::sampling
