#pragma once

#include <cstdint>
#include <string_view>

namespace headway::base {

/// A text as a number: different for different texts but for one case in 2^64. No shield against
/// texts that were made to collide.
/// Source:   G. Fowler, L. C. Noll, K.-P. Vo, FNV-1a (draft-eastlake-fnv).
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace headway::base
