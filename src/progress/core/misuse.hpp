#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace headway::progress {

/// The caller has violated the contract: writes one line that names the ltask, then aborts.
template <class... Args>
[[noreturn]] void misuse(fmt::format_string<Args...> format, Args&&... args) noexcept {
  const auto line = fmt::format(format, std::forward<Args>(args)...);
  std::fprintf(stderr, "headway: bug: %s\n", line.c_str());
  std::abort();
}

}  // namespace headway::progress
