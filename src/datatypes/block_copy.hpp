#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::datatypes {

/// Blocks of the same size, `count` of them, each a stride behind the one before: where they are
/// copied from, and to.
struct block_rows {
  std::byte* to = nullptr;
  std::int64_t to_stride = 0;
  const std::byte* from = nullptr;
  std::int64_t from_stride = 0;
  std::int64_t count = 0;
};

/// Copies blocks of `bytes`, at least 1. The two sides do not overlap.
/// Threads:  any. Never waits or allocates.
void copy_blocks(std::int64_t bytes, const block_rows& rows) noexcept;

}  // namespace headway::datatypes
