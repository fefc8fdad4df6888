#pragma once

#include <cstddef>
#include <cstring>

namespace headway::base {

namespace detail {
void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept;
/// Past the caches; a release store behind it publishes the bytes. See copy_for_reader.hpp.
void copy_by_streaming_stores(std::byte* to, const std::byte* from, std::size_t size) noexcept;
}  // namespace detail

/// memcpy for bytes that another core has just written, or is about to read. From about 2 KiB on,
/// the C library copies by one string instruction of the processor, which is slow where the lines
/// are in another core's caches: a loop over wide registers takes a tenth to a third less until
/// those caches no longer hold the bytes. The two blocks do not overlap.
inline void copy_between_cores(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  constexpr std::size_t least = 2048, most = 256 * 1024;
  if (size >= least && size <= most) {
    detail::copy_by_vectors(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

}  // namespace headway::base
