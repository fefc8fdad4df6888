#include "files/view.hpp"

#include <algorithm>

namespace headway::files {

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
  const auto extent = filetype->extent();
  if (extent == 0) return std::clamp<std::int64_t>(inside, 0, filetype->size());
  // The data of all repetitions before these ends in front of the offset.
  const auto whole = std::max<std::int64_t>(0, (inside - filetype->true_ub()) / extent);
  auto count = whole * filetype->size();
  for (auto each = whole; displacement + each * extent + filetype->true_lb() < offset; ++each)
    filetype->for_each_block(1, 0, filetype->size(), [&](std::int64_t at, std::int64_t bytes) {
      const auto before = offset - (displacement + each * extent + at);
      count += std::clamp<std::int64_t>(before, 0, bytes);
    });
  return count;
}

}  // namespace headway::files
