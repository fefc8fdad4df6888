// Packing, unpacking and listing blocks: one traversal of a plan, three things to do at a block.
#include <algorithm>
#include <cstring>

#include "datatypes/plan.hpp"

namespace headway::datatypes {
namespace {

/// Copies a block of the buffer to the packed form, where it advances.
struct packer {
  using place = const std::byte*;
  std::byte* packed;
  void move(place at, std::int64_t bytes) noexcept {
    std::memcpy(packed, at, static_cast<std::size_t>(bytes));
    packed += bytes;
  }
};

/// The other direction.
struct unpacker {
  using place = std::byte*;
  const std::byte* packed;
  void move(place at, std::int64_t bytes) noexcept {
    std::memcpy(at, packed, static_cast<std::size_t>(bytes));
    packed += bytes;
  }
};

/// Reports where the block is.
struct block_lister {
  using place = std::int64_t;
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

  /// Blocks whose size the compiler knows become single moves.
  template <std::int64_t bytes>
  void fixed_blocks(std::int64_t count, std::int64_t stride, place at) noexcept {
    for (; count > 0; --count, at += stride) move(at, bytes);
  }

  void blocks(std::int64_t bytes, std::int64_t count, std::int64_t stride, place at) noexcept {
    switch (bytes) {
      case 1:
        return fixed_blocks<1>(count, stride, at);
      case 2:
        return fixed_blocks<2>(count, stride, at);
      case 4:
        return fixed_blocks<4>(count, stride, at);
      case 8:
        return fixed_blocks<8>(count, stride, at);
      case 12:
        return fixed_blocks<12>(count, stride, at);
      case 16:
        return fixed_blocks<16>(count, stride, at);
      case 24:
        return fixed_blocks<24>(count, stride, at);
      case 32:
        return fixed_blocks<32>(count, stride, at);
      case 64:
        return fixed_blocks<64>(count, stride, at);
      default:
        for (; count > 0; --count, at += stride) move(at, bytes);
    }
  }

  void whole_rounds(const plan& p, std::int64_t count, std::int64_t stride, place at) noexcept {
    if (p.shape == plan::form::block) {
      blocks(p.size, count, stride, at);
    } else {
      for (; count > 0; --count, at += stride) whole(p, at);
    }
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
        for (const auto& r : p.runs) move(at + r.offset, r.length);
        break;
      case plan::form::list:
        for (const auto& l : p.pieces) whole(*l.child, at + l.offset);
        break;
    }
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
        for (auto r = containing(p.runs, begin); r != p.runs.end() && r->start < end; ++r) {
          const auto from = std::max<std::int64_t>(begin - r->start, 0);
          move(at + r->offset + from, std::min(end - r->start, r->length) - from);
        }
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
