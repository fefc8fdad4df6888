#pragma once

#include <cstddef>

namespace headway::base {

/// Asks for a cache line that this core will write soon, and that another core has read or written
/// since: the stores then find it here. A hint; any address will do. The other core has to fetch
/// the line again if it looks there once more, so it should have read what it needs.
///
/// GCC's builtin asks for a line to read where the compiler may not assume the newer instruction,
/// and so leaves it in the other core's caches, too. All x86-64 processors but the first of Intel
/// take `prefetchw`; those before Broadwell ignore it. docs/decisions/0034-half-lines.md has the
/// figures.
///
/// Threads:  any.
/// Progress: never waits.
[[gnu::always_inline]] inline void prefetch_line_for_writing(const void* line) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// The same for all lines of an object that begins with one.
template <class Object>
[[gnu::always_inline]] inline void prefetch_for_writing(const Object& object) noexcept {
  constexpr std::size_t line_bytes = 64;
  static_assert(sizeof(Object) % line_bytes == 0);
  const auto* const begin = reinterpret_cast<const std::byte*>(&object);
  for (std::size_t at = 0; at < sizeof(Object); at += line_bytes)
    prefetch_line_for_writing(begin + at);
}

}  // namespace headway::base
