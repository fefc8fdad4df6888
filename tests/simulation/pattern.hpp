#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headway::simulation {

constexpr std::size_t pattern_bytes_max = 1 << 20;

/// The contents of a message: random bytes that `key` determines. Two keys have the same bytes only
/// by chance, for one pair in 65 521. They are parts of one table, so that writing and comparing a
/// message takes one `memcpy` and one `memcmp`.
/// Shape:    `bytes` is at most `pattern_bytes_max`. The table lives as long as the program.
/// Threads:  any.
[[nodiscard]] std::span<const std::byte> pattern(std::uint64_t key, std::size_t bytes);

/// A message: `head`, as much of it as fits, and behind it the pattern of `key`.
template <class Head>
void write_pattern(std::span<std::byte> to, const Head& head, std::uint64_t key) {
  if (to.empty()) return;
  const auto all = pattern(key, to.size());
  std::memcpy(to.data(), all.data(), to.size());
  std::memcpy(to.data(), &head, std::min(sizeof head, to.size()));
}

/// Whether these are the bytes that `write_pattern` writes.
template <class Head>
[[nodiscard]] bool has_pattern(std::span<const std::byte> in, const Head& head, std::uint64_t key) {
  if (in.empty()) return true;
  const auto head_bytes = std::min(sizeof head, in.size());
  const auto all = pattern(key, in.size());
  return std::memcmp(in.data(), &head, head_bytes) == 0 &&
         std::memcmp(in.data() + head_bytes, all.data() + head_bytes, in.size() - head_bytes) == 0;
}

}  // namespace headway::simulation
