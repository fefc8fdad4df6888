#pragma once

#include <cstdint>

namespace headway::base {

/// Whether `one` is more than one and a half times `other`: too much to be chance, where two ways
/// of doing the same thing are compared by a few measurements. False if `other` is 0: not measured.
///
/// Shape:    any unit, the same for both; up to 2^62.
/// Threads:  any.
[[nodiscard]] constexpr bool clearly_longer(std::uint64_t one, std::uint64_t other) noexcept {
  return other != 0 && 2 * one > 3 * other;
}

}  // namespace headway::base
