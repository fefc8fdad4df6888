#pragma once

#include <cstdint>

#include "datatypes/layout.hpp"

namespace headway::files {

/// The part of a file that a process sees (MPI-5.0 section 14.3): the data of a filetype, which is
/// repeated from a displacement on.
///
/// Shape:    a *position* is a number of bytes of that data, without the holes between them; an
///           *offset* is one of bytes in the file.
/// Threads:  immutable while operations use it.
/// Progress: never waits.
/// Errors:   none; the filetype must be usable (`is_usable`).
struct view {
  std::int64_t displacement = 0;
  std::int64_t etype_bytes = 1;
  datatypes::layout_ptr filetype = datatypes::layout::of(datatypes::number::byte);

  /// Whether the filetype has data, none of it in front of the displacement, and in the order in
  /// which it lies in the file.
  [[nodiscard]] static bool is_usable(const datatypes::layout& filetype);

  [[nodiscard]] bool is_contiguous() const noexcept { return filetype->is_contiguous(); }
  /// Where the byte at a position lies.
  [[nodiscard]] std::int64_t offset_of(std::int64_t position) const noexcept;
  /// How many bytes of the view lie in front of an offset.
  [[nodiscard]] std::int64_t position_of(std::int64_t offset) const noexcept;

  /// Calls `visit(offset, bytes)`, which must not throw, for the blocks of the file that hold the
  /// positions [begin, end), in this order.
  template <class Visit>
  void for_each_block(std::int64_t begin, std::int64_t end, Visit&& visit) const noexcept {
    const auto size = filetype->size();
    const auto before = begin / size;  // whole filetypes
    const auto from = displacement + before * filetype->extent();
    begin -= before * size;
    end -= before * size;
    filetype->for_each_block(end / size + 1, begin, end,
                             [&](std::int64_t at, std::int64_t bytes) { visit(from + at, bytes); });
  }
  /// The same for pieces: blocks that lie behind each other in the file are one.
  template <class Visit>
  void for_each_piece(std::int64_t begin, std::int64_t end, Visit&& visit) const noexcept {
    std::int64_t at = 0, length = 0;
    for_each_block(begin, end, [&](std::int64_t offset, std::int64_t bytes) {
      if (at + length != offset) {
        if (length != 0) visit(at, length);
        at = offset;
        length = 0;
      }
      length += bytes;
    });
    if (length != 0) visit(at, length);
  }
};

}  // namespace headway::files
