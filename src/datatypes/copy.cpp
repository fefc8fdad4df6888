// Packing and unpacking: one traversal of a plan, in either direction.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "datatypes/plan.hpp"

namespace headway::datatypes {
namespace {

/// Traverses a plan and copies bytes between the buffer and the packed form, where it advances
/// `packed_`. `out`: from the buffer to the packed form.
template <bool out>
class walker {
  using buffer_at = std::conditional_t<out, const std::byte*, std::byte*>;
  using packed_at = std::conditional_t<out, std::byte*, const std::byte*>;

 public:
  explicit walker(packed_at packed) noexcept : packed_(packed) {}

  /// Copies bytes [begin, end) of `count` rounds of `p`; the range is within them and not empty.
  void rounds(const plan& p, std::int64_t count, std::int64_t stride, buffer_at at,
              std::int64_t begin, std::int64_t end) noexcept {
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
  void move(buffer_at at, std::int64_t bytes) noexcept {
    if constexpr (out) {
      std::memcpy(packed_, at, static_cast<std::size_t>(bytes));
    } else {
      std::memcpy(at, packed_, static_cast<std::size_t>(bytes));
    }
    packed_ += bytes;
  }

  /// Blocks whose size the compiler knows become single moves.
  template <std::int64_t bytes>
  void fixed_blocks(std::int64_t count, std::int64_t stride, buffer_at at) noexcept {
    for (; count > 0; --count, at += stride) move(at, bytes);
  }

  void blocks(std::int64_t bytes, std::int64_t count, std::int64_t stride, buffer_at at) noexcept {
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

  void whole_rounds(const plan& p, std::int64_t count, std::int64_t stride, buffer_at at) noexcept {
    if (p.shape == plan::form::block) {
      blocks(p.size, count, stride, at);
    } else {
      for (; count > 0; --count, at += stride) whole(p, at);
    }
  }

  void whole(const plan& p, buffer_at at) noexcept {
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

  void part(const plan& p, buffer_at at, std::int64_t begin, std::int64_t end) noexcept {
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

  packed_at packed_;
};

}  // namespace

void copy_out(const plan& what, std::int64_t count, std::int64_t stride, const std::byte* buffer,
              std::int64_t begin, std::int64_t end, std::byte* packed) noexcept {
  if (begin < end) walker<true>(packed).rounds(what, count, stride, buffer, begin, end);
}

void copy_in(const plan& what, std::int64_t count, std::int64_t stride, std::byte* buffer,
             std::int64_t begin, std::int64_t end, const std::byte* packed) noexcept {
  if (begin < end) walker<false>(packed).rounds(what, count, stride, buffer, begin, end);
}

}  // namespace headway::datatypes
