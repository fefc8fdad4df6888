#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sampling/curve.hpp"

namespace headway::sampling {

/// A rail as the division sees it.
struct way {
  const curve* time = nullptr;
  double busy_ns = 0;  ///< from now until it is free
};

/// Rails that a message is divided over; more are not looked at.
constexpr std::size_t ways_max = 16;

/// When `bytes` would have gone over this rail, from now.
[[nodiscard]] inline double end_of(const way& w, std::uint64_t bytes) noexcept {
  return bytes == 0 ? 0 : w.busy_ns + w.time->ns_for(bytes);
}

/// Divides `bytes` over `ways` so that all shares end together, and says when, in ns from now.
///
/// Shape:    `shares[i]` is for `ways[i]`; their sum is `bytes` exactly. A rail that would not be
///           free in time gets nothing, nor does one whose share would be less than `least`.
/// Progress: some hundred nanoseconds for four rails (bench/sampling/division_bench.cpp); allocates
///           nothing.
/// Errors:   never later than the best single rail. No rail: all shares 0, and the end is 0.
/// Source:   multirail08, section II-B: dichotomy on predicted times, each beginning when its rail
///           is free. There it looks for a ratio of two; here for the common end, any number.
double divide(std::span<const way> ways, std::uint64_t bytes, std::span<std::uint64_t> shares,
              std::uint64_t least = 1) noexcept;

}  // namespace headway::sampling
