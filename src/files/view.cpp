#include "files/view.hpp"

#include <algorithm>

namespace headway::files {
namespace {

/// Where a filetype reaches into the next ones: `inside` bytes behind the displacement.
[[nodiscard]] std::int64_t count_before(const datatypes::layout& filetype,
                                        std::int64_t inside) noexcept {
  const auto size = filetype.size(), extent = filetype.extent();
  // The data of all repetitions before these ends in front of the offset.
  const auto whole =
      extent == 0 ? 0 : std::max<std::int64_t>(0, (inside - filetype.true_ub()) / extent);
  auto count = whole * size;
  for (auto each = whole; each * extent + filetype.true_lb() < inside; ++each) {
    filetype.for_each_block(1, 0, size, [&](std::int64_t at, std::int64_t bytes) {
      count += std::clamp<std::int64_t>(inside - (each * extent + at), 0, bytes);
    });
    if (extent == 0) break;
  }
  return count;
}

}  // namespace

bool view::is_usable(const datatypes::layout& filetype) {
  if (filetype.size() == 0 || filetype.extent() < 0) return false;
  std::int64_t last = 0;
  bool usable = true;
  filetype.for_each_block(1, 0, filetype.size(), [&](std::int64_t offset, std::int64_t) {
    usable = usable && offset >= last;
    last = offset;
  });
  return usable;
}

std::int64_t view::offset_of(std::int64_t position) const noexcept {
  std::int64_t found = 0;
  for_each_block(position, position + 1, [&](std::int64_t at, std::int64_t) { found = at; });
  return found;
}

std::int64_t view::position_of(std::int64_t offset) const noexcept {
  const auto inside = offset - displacement;
  if (inside <= 0) return 0;
  const auto size = filetype->size(), extent = filetype->extent();
  if (filetype->true_extent() > extent) return count_before(*filetype, inside);
  // Offsets increase with positions, so a binary search in the two filetypes around it will do.
  const auto whole = std::max<std::int64_t>(0, inside - filetype->true_lb()) / extent;
  auto first = std::max<std::int64_t>(0, whole - 1) * size;
  auto last = (whole + 1) * size;
  while (first < last) {
    const auto middle = first + (last - first) / 2;
    if (offset_of(middle) < offset) first = middle + 1;
    else last = middle;
  }
  return first;
}

}  // namespace headway::files
