#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace headway::progress {

/// A broken promise of the caller's: one line that names the ltask, then abort.
template <class... Args>
[[noreturn]] void misuse(fmt::format_string<Args...> format, Args&&... args) noexcept {
  const auto line = fmt::format(format, std::forward<Args>(args)...);
  std::fprintf(stderr, "headway: bug: %s\n", line.c_str());
  std::abort();
}

}  // namespace headway::progress
