#pragma once

#include <cstdint>
#include <string_view>

namespace headway::base {

/// A 64-bit hash of a text. Not cryptographic: texts that collide can be made.
/// Source:   G. Fowler, L. C. Noll, K.-P. Vo, FNV-1a (draft-eastlake-fnv).
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace headway::base
