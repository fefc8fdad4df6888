#pragma once

namespace headway::base {

/// Prints "headway: bug: TEXT (FILE:LINE)" on standard error and aborts.
[[noreturn]] void assertion_failed(const char* text, const char* file, int line) noexcept;

}  // namespace headway::base

/// Aborts the process when `condition` is false: a bug of Headway, or a caller that breaks a
/// promise. Checked in every build: for code outside the data path.
#define HEADWAY_ASSERT(condition)     \
  ((condition) ? static_cast<void>(0) \
               : ::headway::base::assertion_failed(#condition, __FILE__, __LINE__))

/// The same for the data path: checked in debug builds only.
#ifdef NDEBUG
#define HEADWAY_DEBUG_ASSERT(condition) static_cast<void>(0)
#else
#define HEADWAY_DEBUG_ASSERT(condition) HEADWAY_ASSERT(condition)
#endif
