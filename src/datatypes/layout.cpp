#include "datatypes/layout.hpp"

#include "base/assert.hpp"
#include "datatypes/plan.hpp"
#include "datatypes/signature.hpp"

namespace headway::datatypes {

layout::layout() = default;
layout::~layout() = default;

void layout::pack(const void* from, std::int64_t count, std::int64_t begin, std::int64_t end,
                  std::byte* to) const noexcept {
  HEADWAY_DEBUG_ASSERT(count >= 0 && begin >= 0 && end <= count * size_);
  if (plan_) {
    copy_out(*plan_, count, extent(), static_cast<const std::byte*>(from) + origin_, begin, end,
             to);
  }
}

void layout::unpack(const std::byte* from, std::int64_t begin, std::int64_t end, void* to,
                    std::int64_t count) const noexcept {
  HEADWAY_DEBUG_ASSERT(count >= 0 && begin >= 0 && end <= count * size_);
  if (plan_) {
    copy_in(*plan_, count, extent(), static_cast<std::byte*>(to) + origin_, begin, end, from);
  }
}

void layout::visit_blocks(std::int64_t count, std::int64_t begin, std::int64_t end,
                          block_visitor visit, void* state) const noexcept {
  HEADWAY_DEBUG_ASSERT(count >= 0 && begin >= 0 && end <= count * size_);
  if (plan_) list_blocks(*plan_, count, extent(), origin_, begin, end, visit, state);
}

std::int64_t layout::elements() const noexcept { return signature_->elements; }

std::int64_t layout::elements_in(std::int64_t bytes) const noexcept {
  if (size_ == 0) return bytes == 0 ? 0 : -1;
  const auto whole = bytes / size_;
  const auto rest = datatypes::elements_in(*signature_, bytes - whole * size_);
  return rest < 0 ? -1 : whole * signature_->elements + rest;
}

}  // namespace headway::datatypes
