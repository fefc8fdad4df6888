#pragma once

#include <cstdlib>

// How long a test is that could go on for ever, or tries many sizes. docs/testing.md says what runs
// where.
namespace headway::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// `whole` where HEADWAY_TEST_WHOLE is set, as `.ci/nightly` does; else `part`.
template <class Length>
[[nodiscard]] Length whole_or(Length whole, Length part) {
  return std::getenv("HEADWAY_TEST_WHOLE") != nullptr ? whole : part;
}

/// The same, and `whole` also where no sanitizer makes each step take ten times as long.
template <class Length>
[[nodiscard]] Length whole_or_sanitized(Length whole, Length part) {
  return sanitized ? whole_or(whole, part) : whole;
}

}  // namespace headway::testing
