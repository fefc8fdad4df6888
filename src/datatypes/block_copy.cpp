// The innermost loops of packing and unpacking. There is one for each small size, so that a block
// is a few moves without a branch or a call; this file is compiled with -O3, which makes vectors of
// the loops with constant strides.
#include "datatypes/block_copy.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace headway::datatypes {
namespace {

constexpr std::size_t fixed_bytes_max = 64;

using loop = void (*)(const block_rows& rows) noexcept;

/// Strides that are 0 here are those of `rows`.
template <std::size_t bytes, std::int64_t fixed_to, std::int64_t fixed_from>
void copy_fixed(const block_rows& rows) noexcept {
  const std::int64_t to_stride = fixed_to != 0 ? fixed_to : rows.to_stride;
  const std::int64_t from_stride = fixed_from != 0 ? fixed_from : rows.from_stride;
  std::byte* __restrict to = rows.to;
  const std::byte* __restrict from = rows.from;
  const std::int64_t count = rows.count;
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

template <std::size_t... below>
constexpr auto make_loops(std::index_sequence<below...>) noexcept {
  return std::array<loop, sizeof...(below)>{&copy_fixed<below + 1, 0, 0>...};
}
constexpr auto loops = make_loops(std::make_index_sequence<fixed_bytes_max>{});

/// Every second block, packed or unpacked; null: there is no loop for that.
template <std::size_t bytes>
loop every_second(const block_rows& rows) noexcept {
  constexpr auto packed = static_cast<std::int64_t>(bytes);
  if (rows.to_stride == packed && rows.from_stride == 2 * packed)
    return &copy_fixed<bytes, packed, 2 * packed>;
  if (rows.to_stride == 2 * packed && rows.from_stride == packed)
    return &copy_fixed<bytes, 2 * packed, packed>;
  return nullptr;
}

loop every_second(std::int64_t bytes, const block_rows& rows) noexcept {
  switch (bytes) {
    case 1:
      return every_second<1>(rows);
    case 2:
      return every_second<2>(rows);
    case 4:
      return every_second<4>(rows);
    case 8:
      return every_second<8>(rows);
    default:
      return nullptr;
  }
}

}  // namespace

void copy_blocks(std::int64_t bytes, const block_rows& rows) noexcept {
  HEADWAY_DEBUG_ASSERT(bytes >= 1 && rows.count >= 0);
  const auto size = static_cast<std::size_t>(bytes);
  if (size > fixed_bytes_max) {
    for (std::int64_t i = 0; i < rows.count; ++i)
      std::memcpy(rows.to + i * rows.to_stride, rows.from + i * rows.from_stride, size);
  } else if (const loop special = every_second(bytes, rows)) {
    special(rows);
  } else {
    loops[size - 1](rows);
  }
}

}  // namespace headway::datatypes
