#include "windows/array_form.hpp"

#include "base/assert.hpp"

namespace headway::windows {

array_form::array_form(const local_data& of, datatypes::number kind)
    : of_(of),
      one_(datatypes::layout::of(kind)),
      count_(one_.size() == 0 ? 0 : of.bytes() / one_.size()) {
  HEADWAY_DEBUG_ASSERT(count_ * one_.size() == of.bytes());  // whole elements of that kind
  if (of.type->kind() == kind || (is_dense() && of.is_one_block())) {
    at_ = of.block();
    return;
  }
  copy_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(count_ * one_.extent()));
  at_ = copy_.get();
}

void array_form::read() noexcept {
  if (!copy_) return;
  if (is_dense()) return of_.type->pack(of_.at, of_.count, at_);
  // An element at a time: its bytes may lie in two blocks of the buffer, and have a gap in ours.
  alignas(16) std::byte packed[64];
  for (std::int64_t i = 0; i < count_; ++i) {
    of_.type->pack(of_.at, of_.count, i * one_.size(), (i + 1) * one_.size(), packed);
    one_.unpack(packed, at_ + i * one_.extent(), 1);
  }
}

void array_form::write(std::int64_t first, std::int64_t count) noexcept {
  HEADWAY_DEBUG_ASSERT(0 <= first && 0 <= count && count <= count_ - first);
  if (!copy_) return;
  const auto end = first + count;
  if (is_dense()) {
    return of_.type->unpack(at_ + first * one_.size(), first * one_.size(), end * one_.size(),
                            of_.at, of_.count);
  }
  alignas(16) std::byte packed[64];
  for (std::int64_t i = first; i < end; ++i) {
    one_.pack(at_ + i * one_.extent(), 1, packed);
    of_.type->unpack(packed, i * one_.size(), (i + 1) * one_.size(), of_.at, of_.count);
  }
}

}  // namespace headway::windows
