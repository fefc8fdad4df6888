#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headway::endpoints {

// How many units of a limit `most` a message counts for.

/// For what a receiver must keep.
[[nodiscard]] constexpr std::uint32_t charge_of(std::size_t bytes, std::uint32_t most) noexcept {
  constexpr std::size_t unit_bytes = 64 << 10;
  return static_cast<std::uint32_t>(std::min<std::size_t>(1 + bytes / unit_bytes, most / 2));
}

/// For buffers that two processors share: a mebibyte under way stays in their caches, and a program
/// that writes to a returned buffer does not wait for memory (docs/experiments/E16.md).
[[nodiscard]] constexpr std::uint32_t charge_in_place(std::size_t bytes,
                                                      std::uint32_t most) noexcept {
  constexpr std::size_t unit_bytes = 4 << 10;
  constexpr std::uint32_t messages_min = 8;  // so many may be under way, whatever their size
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(1 + bytes / unit_bytes, most / messages_min));
}

}  // namespace headway::endpoints
