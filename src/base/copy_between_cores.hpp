#pragma once

#include <cstddef>
#include <cstring>

namespace headway::base {

namespace detail {
constexpr std::size_t vectors_bytes_min = 2048, vectors_bytes_max = 256 * 1024;
void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept;
void copy_by_wide_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept;
/// Past the caches; a release store behind it publishes the bytes. See copy_for_reader.hpp.
void copy_by_streaming_stores(std::byte* to, const std::byte* from, std::size_t size) noexcept;
}  // namespace detail

/// memcpy for bytes that another core is about to read. From about 2 KiB on, the C library copies
/// by one string instruction of the processor, which is slow where the lines are in another core's
/// caches: a loop over wide registers takes a tenth to a third less until those caches no longer
/// hold the bytes. The two blocks do not overlap.
inline void copy_between_cores(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size >= detail::vectors_bytes_min && size <= detail::vectors_bytes_max) {
    detail::copy_by_vectors(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

/// The same for bytes that another core has just written. One load of a whole line has more lines
/// under way than two of half a line: 4 KiB take a third less. Stores gain nothing from that.
inline void copy_from_writer(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size >= detail::vectors_bytes_min && size <= detail::vectors_bytes_max) {
    detail::copy_by_wide_vectors(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

/// The same where so much else follows that the bytes would leave the caches again before they are
/// used: the lines are not read from memory before they are written.
inline void copy_from_writer_to_memory(std::byte* to, const std::byte* from,
                                       std::size_t size) noexcept {
  if (size >= detail::vectors_bytes_min) detail::copy_by_streaming_stores(to, from, size);
  else copy_from_writer(to, from, size);
}

}  // namespace headway::base
