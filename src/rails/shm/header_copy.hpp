#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/copy_small.hpp"

namespace headway::rails::shm {

/// The header was just written in parts: a load that is wider than a store has to wait for the
/// store buffer.
[[gnu::always_inline]] inline void copy_header(std::byte* to,
                                               std::span<const std::byte> header) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const auto* from = header.data();
  auto left = header.size();
  if (left == 2 * word) [[likely]] {  // of an eager message
    std::memcpy(to, from, word);
    std::memcpy(to + word, from + word, word);
    return;
  }
  for (; left >= word; left -= word, to += word, from += word) std::memcpy(to, from, word);
  if (left != 0) base::copy_small(to, from, left);
}

}  // namespace headway::rails::shm
