#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// Elements of one kind that lie in a row in a window. Also sent in packets.
struct element_run {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};
static_assert(sizeof(element_run) == 16);

/// Calls `visit(run)` for the elements of `where`, all of kind `kind`, in their order. With
/// number::byte the elements are the bytes, whatever they mean.
template <class Visit>
void for_each_run(const remote_data& where, datatypes::number kind, Visit&& visit) {
  const auto& one = datatypes::layout::of(kind);
  const auto size = one.size(), extent = one.extent();
  HEADWAY_DEBUG_ASSERT(where.count >= 0 && size > 0 && where.bytes() % size == 0);
  if (size == extent && where.is_one_block()) {
    if (const auto count = where.bytes() / size; count != 0)
      visit(element_run{where.block(), count});
    return;
  }
  element_run open;
  const auto add = [&](std::int64_t offset, std::int64_t count) {
    offset += where.offset;
    if (open.count != 0 && open.offset + open.count * extent == offset) {
      open.count += count;
      return;
    }
    if (open.count != 0) visit(open);
    open = {offset, count};
  };
  if (size == extent) {
    where.type->for_each_block(where.count, 0, where.bytes(),
                               [&](std::int64_t at, std::int64_t bytes) { add(at, bytes / size); });
  } else {  // a pair with a gap: its element is where its first byte is
    for (std::int64_t byte = 0; byte < where.bytes(); byte += size)
      where.type->for_each_block(where.count, byte, byte + 1,
                                 [&](std::int64_t at, std::int64_t) { add(at, 1); });
  }
  if (open.count != 0) visit(open);
}

/// Cuts runs into groups for packets: a group has room for `runs_max` runs and `elements_max`
/// elements. `emit(runs, first, count)` gets each group, the position of its first element, and how
/// many it has.
template <class Emit>
class run_cutter {
 public:
  run_cutter(std::size_t runs_max, std::int64_t elements_max, std::int64_t extent, Emit emit)
      : runs_max_(runs_max), elements_max_(elements_max), extent_(extent), emit_(emit) {
    HEADWAY_DEBUG_ASSERT(runs_max > 0 && elements_max > 0 && extent > 0);
  }

  void add(element_run run) {
    while (run.count > 0) {
      if (group_.size() == runs_max_ || in_group_ == elements_max_) finish();
      const auto taken = std::min(run.count, elements_max_ - in_group_);
      group_.push_back({run.offset, taken});
      in_group_ += taken;
      run.offset += taken * extent_;
      run.count -= taken;
    }
  }
  void finish() {
    if (group_.empty()) return;
    emit_(std::span<const element_run>(group_), first_, in_group_);
    first_ += in_group_;
    in_group_ = 0;
    group_.clear();
  }

 private:
  const std::size_t runs_max_;
  const std::int64_t elements_max_;
  const std::int64_t extent_;
  Emit emit_;
  std::vector<element_run> group_;
  std::int64_t in_group_ = 0;
  std::int64_t first_ = 0;
};

}  // namespace headway::windows
