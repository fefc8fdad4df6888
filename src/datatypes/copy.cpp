// Packing, unpacking and listing blocks: one traversal of a plan, three things to do at a block.
#include <algorithm>

#include "base/assert.hpp"
#include "base/copy_small.hpp"
#include "datatypes/block_copy.hpp"
#include "datatypes/plan.hpp"

namespace headway::datatypes {
namespace {

/// A shorter round is copied with others, column by column.
constexpr std::int64_t column_round_max = 128;
/// Packed bytes of the rounds that are copied together: they stay in the first cache.
constexpr std::int64_t column_bytes = 2048;
constexpr std::int64_t column_rounds_min = 4;

/// memcpy without a call for the lengths that blocks mostly have.
void copy_block(std::byte* to, const std::byte* from, std::int64_t bytes) noexcept {
  base::copy_small(to, from, static_cast<std::size_t>(bytes));
}

/// Copies blocks of the buffer to the packed form, where it advances.
struct packer {
  using place = const std::byte*;
  static constexpr bool in_order = false;
  std::byte* packed;
  void move(place at, std::int64_t bytes) noexcept {
    copy_block(packed, at, bytes);
    packed += bytes;
  }
  /// A block of each of some rounds; in the packed form they are `offset` and more behind it.
  void move_column(place at, std::int64_t stride, std::int64_t bytes, std::int64_t offset,
                   std::int64_t packed_stride, std::int64_t count) const noexcept {
    copy_blocks(bytes, {.to = packed + offset,
                        .to_stride = packed_stride,
                        .from = at,
                        .from_stride = stride,
                        .count = count});
  }
};

/// The other direction.
struct unpacker {
  using place = std::byte*;
  static constexpr bool in_order = false;
  const std::byte* packed;
  void move(place at, std::int64_t bytes) noexcept {
    copy_block(at, packed, bytes);
    packed += bytes;
  }
  void move_column(place at, std::int64_t stride, std::int64_t bytes, std::int64_t offset,
                   std::int64_t packed_stride, std::int64_t count) const noexcept {
    copy_blocks(bytes, {.to = at,
                        .to_stride = stride,
                        .from = packed + offset,
                        .from_stride = packed_stride,
                        .count = count});
  }
};

/// Reports where the block is.
struct block_lister {
  using place = std::int64_t;
  static constexpr bool in_order = true;
  block_visitor visit;
  void* state;
  void move(place at, std::int64_t bytes) noexcept { visit(state, at, bytes); }
};

/// Traverses a plan and has each block moved by `Mover`.
template <class Mover>
class walker {
  using place = typename Mover::place;

 public:
  explicit walker(const Mover& mover) noexcept : mover_(mover) {}

  /// Moves bytes [begin, end) of `count` rounds of `p`; the range is within them and not empty.
  void rounds(const plan& p, std::int64_t count, std::int64_t stride, place at, std::int64_t begin,
              std::int64_t end) noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= begin && begin < end && end <= count * p.size);
    if (begin == 0 && end == count * p.size) {
      whole_rounds(p, count, stride, at);
      return;
    }
    const std::int64_t first = begin / p.size;
    const std::int64_t last = (end - 1) / p.size;  // the round in which the range ends
    if (first == last) {
      part(p, at + first * stride, begin - first * p.size, end - first * p.size);
      return;
    }
    part(p, at + first * stride, begin - first * p.size, p.size);
    whole_rounds(p, last - first - 1, stride, at + (first + 1) * stride);
    part(p, at + last * stride, 0, end - last * p.size);
  }

 private:
  void move(place at, std::int64_t bytes) noexcept { mover_.move(at, bytes); }

  void whole_rounds(const plan& p, std::int64_t count, std::int64_t stride, place at) noexcept {
    if constexpr (!Mover::in_order) {
      if (p.shape == plan::form::block) return together(p, count, stride, at);
      if (p.size <= column_round_max && count >= column_rounds_min) {
        const auto most = std::max(column_bytes / p.size, column_rounds_min);
        for (std::int64_t some = 0; count > 0; count -= some, at += some * stride) {
          some = std::min(count, most);
          together(p, some, stride, at);
        }
        return;
      }
    }
    for (; count > 0; --count, at += stride) whole(p, at);
  }

  /// Whole rounds in any order: a block of each round, then the next block of each.
  void together(const plan& p, std::int64_t count, std::int64_t stride, place at) noexcept {
    columns(p, at, 0, {.stride = stride, .packed_stride = p.size, .count = count});
    mover_.packed += count * p.size;
  }

  struct round_set {
    std::int64_t stride, packed_stride, count;
  };

  /// `offset`: of this part in the packed form of a round.
  void columns(const plan& p, place at, std::int64_t offset, const round_set& of) noexcept {
    switch (p.shape) {
      case plan::form::block:
        column(at, p.size, offset, of);
        break;
      case plan::form::loop:
        for (std::int64_t i = 0; i < p.count; ++i, at += p.stride, offset += p.child->size)
          columns(*p.child, at, offset, of);
        break;
      case plan::form::runs:
        for (const auto& r : p.runs) column(at + r.offset, r.length, offset + r.start, of);
        break;
      case plan::form::list:
        for (const auto& l : p.pieces) columns(*l.child, at + l.offset, offset + l.start, of);
        break;
    }
  }
  void column(place at, std::int64_t bytes, std::int64_t offset, const round_set& of) noexcept {
    mover_.move_column(at, of.stride, bytes, offset, of.packed_stride, of.count);
  }

  void whole(const plan& p, place at) noexcept {
    switch (p.shape) {
      case plan::form::block:
        move(at, p.size);
        break;
      case plan::form::loop:
        whole_rounds(*p.child, p.count, p.stride, at);
        break;
      case plan::form::runs:
        runs(p, at);
        break;
      case plan::form::list:
        for (const auto& l : p.pieces) whole(*l.child, at + l.offset);
        break;
    }
  }

  void runs(const plan& p, place at) noexcept {
    Mover mover = mover_;  // in registers: what is copied could otherwise overlap the member
    for (const auto& r : p.runs) mover.move(at + r.offset, r.length);
    mover_ = mover;
  }

  void part_of_runs(const plan& p, place at, std::int64_t begin, std::int64_t end) noexcept {
    auto r = containing(p.runs, begin);
    const auto last = containing(p.runs, end - 1);
    if (r == last) return move(at + r->offset + (begin - r->start), end - begin);
    Mover mover = mover_;  // as above
    mover.move(at + r->offset + (begin - r->start), r->start + r->length - begin);
    for (++r; r != last; ++r) mover.move(at + r->offset, r->length);
    mover.move(at + last->offset, end - last->start);
    mover_ = mover;
  }

  void part(const plan& p, place at, std::int64_t begin, std::int64_t end) noexcept {
    switch (p.shape) {
      case plan::form::block:
        move(at + begin, end - begin);
        break;
      case plan::form::loop:
        rounds(*p.child, p.count, p.stride, at, begin, end);
        break;
      case plan::form::runs:
        part_of_runs(p, at, begin, end);
        break;
      case plan::form::list:
        for (auto l = containing(p.pieces, begin); l != p.pieces.end() && l->start < end; ++l) {
          const auto from = std::max<std::int64_t>(begin - l->start, 0);
          part(*l->child, at + l->offset, from, std::min(end - l->start, l->child->size));
        }
        break;
    }
  }

  /// The member that contains byte `position` of the packed form.
  template <class Members>
  static auto containing(const Members& members, std::int64_t position) noexcept {
    using member = typename Members::value_type;
    return std::prev(std::ranges::upper_bound(members, position, {}, &member::start));
  }

  Mover mover_;
};

}  // namespace

void copy_out(const plan& what, std::int64_t count, std::int64_t stride, const std::byte* buffer,
              std::int64_t begin, std::int64_t end, std::byte* packed) noexcept {
  if (begin < end) walker(packer{packed}).rounds(what, count, stride, buffer, begin, end);
}

void copy_in(const plan& what, std::int64_t count, std::int64_t stride, std::byte* buffer,
             std::int64_t begin, std::int64_t end, const std::byte* packed) noexcept {
  if (begin < end) walker(unpacker{packed}).rounds(what, count, stride, buffer, begin, end);
}

void list_blocks(const plan& what, std::int64_t count, std::int64_t stride, std::int64_t offset,
                 std::int64_t begin, std::int64_t end, block_visitor visit, void* state) noexcept {
  if (begin < end)
    walker(block_lister{visit, state}).rounds(what, count, stride, offset, begin, end);
}

}  // namespace headway::datatypes
