#include "endpoints/buffers/arrival_reserve.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.hpp"

namespace headway::endpoints {

arrival_reserve::arrival_reserve(std::uint64_t begin, std::uint64_t end)
    : begin_(begin), end_(end), free_{{begin, {begin, end}}}, touched_(begin) {}

unsigned arrival_reserve::largest_class() const noexcept {
  unsigned largest = block::class_min;
  while (largest < block::class_max && layout_of(largest + 1).stride <= end_ - begin_) ++largest;
  return largest;
}

block* arrival_reserve::take(const region& home, std::uint64_t job, unsigned size_class) {
  const auto layout = layout_of(size_class);
  const auto begin_in = [&](const range& one) { return layout.align(one.begin); };
  const base::lock_guard held(lock_);
  const auto found = std::ranges::find_if(free_, [&](const auto& one) {
    return begin_in(one.second) + layout.stride <= one.second.end;
  });
  if (found == free_.end()) return nullptr;
  const range whole = found->second;
  const range taken{begin_in(whole), begin_in(whole) + layout.stride};
  const auto place = taken.begin + layout.header_offset;
  used_.emplace(place, taken);
  if (taken.end < whole.end) free_.emplace(taken.end, range{taken.end, whole.end});
  if (whole.begin < taken.begin) found->second.end = taken.begin;
  else free_.erase(found);
  touched_ = std::max(touched_, taken.end);
  return make_block(home.at(place), place, job, home.owner(), size_class);
}

/// Allocates nothing.
void arrival_reserve::put(const block& b) noexcept {
  const base::lock_guard held(lock_);
  auto node = used_.extract(b.place);
  if (!node) return base::log(base::severity::error, "a released buffer's header was overwritten");
  auto& [begin, end] = node.mapped();
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == end) {
    end = after->second.end;
    after = free_.erase(after);
  }
  if (after != free_.begin() && std::prev(after)->second.end == begin) {
    std::prev(after)->second.end = end;
    return;
  }
  node.key() = begin;
  free_.insert(after, std::move(node));
}

std::size_t arrival_reserve::bytes_touched() const noexcept {
  const base::lock_guard held(lock_);
  return touched_ - begin_;
}

}  // namespace headway::endpoints
