#include "datatypes/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace headway::datatypes {
namespace {

/// A list of at most so many runs is copied into a list that contains it.
constexpr std::size_t dissolved_runs_max = 32;

plan_ptr share(plan made) { return std::make_shared<const plan>(std::move(made)); }

}  // namespace

placed_plan block_plan(std::int64_t bytes) {
  HEADWAY_ASSERT(bytes >= 0);
  if (bytes == 0) return {};
  return {0, share({.shape = plan::form::block, .size = bytes})};
}

placed_plan repeat(const placed_plan& what, std::int64_t count, std::int64_t stride) {
  HEADWAY_ASSERT(count >= 0);
  if (!what.plan || count == 0) return {};
  if (count == 1) return what;
  const plan& p = *what.plan;
  if (p.shape == plan::form::block && stride == p.size) {
    return {what.offset, share({.shape = plan::form::block, .size = count * p.size})};
  }
  if (p.shape == plan::form::loop && stride == p.stride * p.count) {
    return {what.offset, share({.shape = plan::form::loop,
                                .size = count * p.size,
                                .count = count * p.count,
                                .stride = p.stride,
                                .child = p.child})};
  }
  return {what.offset, share({.shape = plan::form::loop,
                              .size = count * p.size,
                              .count = count,
                              .stride = stride,
                              .child = what.plan})};
}

void plan_list::add_block(std::int64_t offset, std::int64_t length) {
  if (!items_.empty()) {
    item& last = items_.back();
    if (!last.child && last.offset + last.length == offset) {
      last.length += length;
      return;
    }
  }
  items_.push_back({offset, length, nullptr});
}

void plan_list::add(std::int64_t offset, const placed_plan& what) {
  if (!what.plan) return;
  const plan& p = *what.plan;
  offset += what.offset;
  if (p.shape == plan::form::block) {
    add_block(offset, p.size);
  } else if (p.shape == plan::form::runs && p.runs.size() <= dissolved_runs_max) {
    for (const auto& r : p.runs) add_block(offset + r.offset, r.length);
  } else {
    items_.push_back({offset, 0, what.plan});
  }
}

bool plan_list::regular(const std::vector<item>& items) noexcept {
  const item& first = items.front();
  const std::int64_t stride = items[1].offset - first.offset;
  for (std::size_t i = 1; i < items.size(); ++i) {
    const item& it = items[i];
    if (it.length != first.length || it.child != first.child) return false;
    if (it.offset - items[i - 1].offset != stride) return false;
  }
  return true;
}

plan_ptr plan_list::child_of(const item& i) {
  return i.child ? i.child : block_plan(i.length).plan;
}

placed_plan plan_list::finish() {
  const auto items = std::exchange(items_, {});
  if (items.empty()) return {};
  const std::int64_t origin = items.front().offset;
  if (items.size() == 1) return {origin, child_of(items.front())};
  if (regular(items)) {
    return repeat({origin, child_of(items.front())}, static_cast<std::int64_t>(items.size()),
                  items[1].offset - origin);
  }
  plan made;
  const bool blocks = std::ranges::none_of(items, [](const item& i) { return i.child != nullptr; });
  made.shape = blocks ? plan::form::runs : plan::form::list;
  for (const item& i : items) {
    if (blocks) {
      made.runs.push_back({i.offset - origin, made.size, i.length});
      made.size += i.length;
    } else {
      made.pieces.push_back({i.offset - origin, made.size, child_of(i)});
      made.size += made.pieces.back().child->size;
    }
  }
  return {origin, share(std::move(made))};
}

}  // namespace headway::datatypes
