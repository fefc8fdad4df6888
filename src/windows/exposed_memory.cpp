#include "windows/exposed_memory.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::windows {

std::byte* exposed_memory::at(std::int64_t offset, std::int64_t bytes) noexcept {
  if (bytes < 0) return nullptr;
  if (!dynamic_) {
    const bool inside = offset >= 0 && offset <= bytes_ && bytes <= bytes_ - offset;
    return inside ? base_ + offset : nullptr;
  }
  const base::lock_guard held(lock_);
  auto behind = std::ranges::upper_bound(*attached_, offset, {}, &region::begin);
  while (behind != attached_->begin() && std::prev(behind)->bytes == 0) --behind;
  if (behind == attached_->begin()) return nullptr;
  const region& in = *std::prev(behind);
  const bool inside = offset - in.begin <= in.bytes && bytes <= in.bytes - (offset - in.begin);
  return inside ? reinterpret_cast<std::byte*>(offset) : nullptr;
}

bool exposed_memory::attach(std::byte* base, std::int64_t bytes) {
  HEADWAY_ASSERT(dynamic_ && bytes >= 0);
  const base::lock_guard alone(changing_);
  std::shared_ptr<const regions> now;
  {
    const base::lock_guard held(lock_);
    now = attached_;
  }
  const region added{reinterpret_cast<std::int64_t>(base), bytes};
  const bool overlaps = std::ranges::any_of(*now, [&](const region& r) {
    return bytes != 0 && r.bytes != 0 && added.begin < r.begin + r.bytes &&
           r.begin < added.begin + added.bytes;
  });
  if (overlaps) return false;
  auto next = std::make_shared<regions>(*now);
  next->insert(std::ranges::upper_bound(*next, added.begin, {}, &region::begin), added);
  replace(std::move(next));
  return true;
}

bool exposed_memory::detach(const std::byte* base) {
  HEADWAY_ASSERT(dynamic_);
  const base::lock_guard alone(changing_);
  std::shared_ptr<const regions> now;
  {
    const base::lock_guard held(lock_);
    now = attached_;
  }
  auto next = std::make_shared<regions>(*now);
  const auto wanted = reinterpret_cast<std::int64_t>(base);
  const auto found = std::ranges::find(*next, wanted, &region::begin);
  if (found == next->end()) return false;
  next->erase(found);
  replace(std::move(next));
  return true;
}

void exposed_memory::replace(std::shared_ptr<const regions> by) noexcept {
  const base::lock_guard held(lock_);
  attached_.swap(by);
}

}  // namespace headway::windows
