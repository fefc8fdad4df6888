#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headway::testing {

/// Fills `bytes` with what depends on the seed (splitmix64). Eight bytes a step: under a sanitizer
/// a generator of the standard library took most of the time of tests with large payloads.
inline void fill_at_random(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof seed) {
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t eight = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    eight = (eight ^ eight >> 27) * 0x94d049bb133111ebu;
    eight ^= eight >> 31;
    std::memcpy(bytes.data() + at, &eight, std::min(sizeof eight, bytes.size() - at));
  }
}

}  // namespace headway::testing
