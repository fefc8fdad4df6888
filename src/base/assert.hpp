#pragma once

namespace headway::base {

/// Prints "headway: bug: TEXT (FILE:LINE)" on standard error and aborts.
[[noreturn]] void assertion_failed(const char* text, const char* file, int line) noexcept;

}  // namespace headway::base

/// A bug of ours or a broken promise of the caller's. Always checked: for the control plane.
#define HEADWAY_ASSERT(condition)     \
  ((condition) ? static_cast<void>(0) \
               : ::headway::base::assertion_failed(#condition, __FILE__, __LINE__))

/// The same where a message passes: checked in debug builds only.
#ifdef NDEBUG
#define HEADWAY_DEBUG_ASSERT(condition) static_cast<void>(0)
#else
#define HEADWAY_DEBUG_ASSERT(condition) HEADWAY_ASSERT(condition)
#endif
