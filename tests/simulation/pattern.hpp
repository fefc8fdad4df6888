#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headway::simulation {

/// Random bytes that belong to `key`: the contents of a message. Other keys have other bytes, with
/// few exceptions. They are pieces of one table, so that messages are written and compared as
/// quickly as memory allows.
/// Shape:    `bytes` is at most `pattern_bytes_max`. The table lives as long as the program.
/// Threads:  any.
constexpr std::size_t pattern_bytes_max = 1 << 20;
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
