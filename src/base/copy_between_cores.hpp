#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headway::base {

namespace detail {
constexpr std::size_t vectors_bytes_min = 2048, vectors_bytes_max = 256 * 1024;
void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept;
void copy_by_wide_vectors(std::byte* to, const std::byte* from, std::size_t size) noexcept;
/// Past the caches; a release store behind it publishes the bytes. See copy_for_reader.hpp.
void copy_by_streaming_stores(std::byte* to, const std::byte* from, std::size_t size) noexcept;
}  // namespace detail

/// Whether the processor's string instruction, by which the C library copies from about 2 KiB on,
/// may take twenty times as long as other stores: AMD's Zen 3 does where the target is 1 to 31
/// bytes behind the source, both counted from the beginning of their pages. It is so for copies
/// from shared memory, which begins with a page, to large blocks of `malloc`, which begin 16 bytes
/// behind one.
[[nodiscard]] inline bool stalls_strings(const std::byte* to, const std::byte* from) noexcept {
  constexpr std::uintptr_t page = 4096, behind_max = 31;
  const auto apart = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  const auto behind = apart % page;
  return behind != 0 && behind <= behind_max;
}

namespace detail {
[[nodiscard]] inline bool suits_vectors(const std::byte* to, const std::byte* from,
                                        std::size_t size) noexcept {
  return size >= vectors_bytes_min && (size <= vectors_bytes_max || stalls_strings(to, from));
}
}  // namespace detail

/// memcpy for bytes that another core is about to read. From about 2 KiB on, the C library copies
/// by one string instruction of the processor, which is slow where the lines are in another core's
/// caches: a loop over wide registers takes a tenth to a third less until those caches no longer
/// hold the bytes. The two blocks do not overlap.
inline void copy_between_cores(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (detail::suits_vectors(to, from, size)) {
    detail::copy_by_vectors(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

/// The same for bytes that another core has just written. One load of a whole line has more lines
/// under way than two of half a line: 4 KiB take a third less. Stores gain nothing from that.
inline void copy_from_writer(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (detail::suits_vectors(to, from, size)) {
    detail::copy_by_wide_vectors(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

/// memcpy for bytes that leave the caches before they are used, because they are many or much else
/// follows: the lines are not read from memory before they are written.
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size >= detail::vectors_bytes_min) detail::copy_by_streaming_stores(to, from, size);
  else copy_from_writer(to, from, size);
}

}  // namespace headway::base
