#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "sampling/profile.hpp"

namespace headway::sampling {

/// The size from which `pays(bytes)` holds up to `most`; `most` itself if it does not hold there.
/// Fluctuations below, from the noise of small samples, do not count: powers of two are tested from
/// above, then the last step is bisected.
template <class Predicate>
[[nodiscard]] std::uint64_t threshold(std::uint64_t most, Predicate pays) {
  if (most == 0 || !pays(most)) return most;
  std::uint64_t does = most;
  std::uint64_t does_not = 0;
  for (std::uint64_t bytes = std::bit_floor(most); bytes > 0; bytes /= 2) {
    if (!pays(bytes)) {
      does_not = bytes;
      break;
    }
    does = bytes;
  }
  HEADWAY_DEBUG_ASSERT(does_not < does);
  while (does - does_not > 1) {
    const auto middle = does_not + (does - does_not) / 2;
    (pays(middle) ? does : does_not) = middle;
  }
  return does;
}

/// The size from which announcing a message and dividing it over all of `rails` is faster than one
/// packet on the best of them. At most `packet_bytes_max`.
[[nodiscard]] std::uint64_t dividing_pays_from(std::span<const profile* const> rails,
                                               std::uint64_t packet_bytes_max,
                                               std::uint64_t piece_bytes_min) noexcept;

}  // namespace headway::sampling
