#include "windows/update.hpp"

#include <cstring>

namespace headway::windows {

std::optional<update> update::of(const change& which) noexcept {
  const auto how = collectives::predefined(which.what, which.kind);
  if (!how) return std::nullopt;
  return update(*how, datatypes::layout::of(which.kind).extent(),
                which.what != collectives::operation::no_op);
}

void update::apply(std::byte* elements, std::int64_t count, const std::byte* operand,
                   std::byte* before) const noexcept {
  if (before != nullptr) std::memcpy(before, elements, static_cast<std::size_t>(count * extent_));
  if (changes_) how_.apply(how_, operand, elements, count);
}

void compare_and_swap(std::byte* element, std::size_t bytes, const std::byte* expected,
                      const std::byte* value, std::byte* before) noexcept {
  std::memcpy(before, element, bytes);
  if (std::memcmp(before, expected, bytes) == 0) std::memcpy(element, value, bytes);
}

}  // namespace headway::windows
