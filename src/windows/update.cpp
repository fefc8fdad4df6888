#include "windows/update.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/assert.hpp"
#include "base/copy_small.hpp"

namespace headway::windows {

std::optional<update> update::of(const change& which) noexcept {
  const auto how = collectives::predefined(which.what, which.kind);
  if (!how) return std::nullopt;
  return update(*how, datatypes::layout::of(which.kind),
                which.what != collectives::operation::no_op);
}

void update::apply(std::byte* elements, std::int64_t count, const std::byte* operand,
                   std::byte* before) const noexcept {
  HEADWAY_DEBUG_ASSERT(count >= 0 && elements != nullptr && (!changes_ || operand != nullptr));
  const auto places =
      reinterpret_cast<std::uintptr_t>(elements) | reinterpret_cast<std::uintptr_t>(operand);
  const bool aligned = (places & static_cast<std::uintptr_t>(one_.alignment() - 1)) == 0;
  if (!aligned || one_.true_extent() != extent()) [[unlikely]]
    return apply_to_copy(elements, count, operand, before);
  if (before != nullptr)
    base::copy_small(before, elements, static_cast<std::size_t>(count * extent()));
  if (changes_) how_.apply(how_, operand, elements, count);
}

void update::apply_to_copy(std::byte* elements, std::int64_t count, const std::byte* operand,
                           std::byte* before) const noexcept {
  alignas(std::max_align_t) std::byte copy[512] = {};
  alignas(std::max_align_t) std::byte operands[sizeof copy] = {};
  const auto part_max = static_cast<std::int64_t>(sizeof copy) / extent();
  for (std::int64_t done = 0; done < count; done += part_max) {
    const auto part = std::min(part_max, count - done), first = done * extent();
    // Without the gap behind the last pair, which may be behind the window.
    const auto bytes = static_cast<std::size_t>((part - 1) * extent() + one_.true_extent());
    std::memcpy(copy, elements + first, bytes);
    if (before != nullptr)
      std::memcpy(before + first, copy, static_cast<std::size_t>(part * extent()));
    if (!changes_) continue;
    std::memcpy(operands, operand + first, bytes);
    how_.apply(how_, operands, copy, part);
    std::memcpy(elements + first, copy, bytes);
  }
}

void compare_and_swap(std::byte* element, std::size_t bytes, const std::byte* expected,
                      const std::byte* value, std::byte* before) noexcept {
  base::copy_small(before, element, bytes);
  if (std::memcmp(before, expected, bytes) == 0) std::memcpy(element, value, bytes);
}

}  // namespace headway::windows
