#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy_between_cores.hpp"

namespace headway::base {

namespace detail {
template <std::size_t bytes>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  // Two blocks that overlap in the middle cover every size from `bytes` to twice that.
  struct block {
    std::byte b[bytes];
  } first, last;
  std::memcpy(&first, from, bytes);
  std::memcpy(&last, from + size - bytes, bytes);
  std::memcpy(to, &first, bytes);
  std::memcpy(to + size - bytes, &last, bytes);
}
}  // namespace detail

constexpr std::size_t small_bytes_max = 64;

/// memcpy for sizes that are mostly small, such as headers: no call and few branches up to
/// `small_bytes_max`. The two blocks do not overlap.
[[gnu::always_inline]] inline void copy_small(std::byte* to, const std::byte* from,
                                              std::size_t size) noexcept {
  if (size > small_bytes_max) [[unlikely]] {
    if (stalls_strings(to, from)) copy_between_cores(to, from, size);
    else std::memcpy(to, from, size);
  } else if (size > 32) {
    detail::copy_ends<32>(to, from, size);
  } else if (size >= 16) {
    detail::copy_ends<16>(to, from, size);
  } else if (size >= 8) {
    detail::copy_ends<8>(to, from, size);
  } else if (size >= 4) {
    detail::copy_ends<4>(to, from, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

}  // namespace headway::base
