#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "sampling/curve.hpp"

namespace headway::sampling {

/// The input of the division about a rail.
struct way {
  const curve* time = nullptr;
  double busy_ns = 0;  ///< from now until it is free
};

/// Rails over which a message is divided; further ones are ignored.
constexpr std::size_t ways_max = 16;

/// When `bytes` would have been sent over this rail, from now.
[[nodiscard]] inline double end_of(const way& w, std::uint64_t bytes) noexcept {
  HEADWAY_DEBUG_ASSERT(w.time != nullptr);
  return bytes == 0 ? 0 : w.busy_ns + w.time->ns_for(bytes);
}

/// Divides `bytes` over `ways` so that all shares end together, and returns when, in ns from now.
///
/// Shape:    `shares[i]` is for `ways[i]`; their sum is exactly `bytes`. A rail that would not be
///           free in time gets nothing, nor does one whose share would be less than `least`.
/// Progress: some hundred nanoseconds for four rails (bench/sampling/division_bench.cpp); allocates
///           nothing.
/// Errors:   never later than the best single rail. No rail: all shares and the end are 0.
/// Source:   multirail08, section II-B: dichotomy on predicted times, each beginning when its rail
///           is free. There for the ratio of two rails; here for the common end of any number.
double divide(std::span<const way> ways, std::uint64_t bytes, std::span<std::uint64_t> shares,
              std::uint64_t least = 1) noexcept;

}  // namespace headway::sampling
