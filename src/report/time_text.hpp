#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace headway::report {

[[nodiscard]] inline double seconds(std::uint64_t ns) noexcept {
  return static_cast<double>(ns) * 1e-9;
}

/// Seconds in the unit that suits them.
[[nodiscard]] inline std::string time_text(double s) {
  if (s >= 1) return fmt::format("{:.2f} s", s);
  if (s >= 1e-3) return fmt::format("{:.2f} ms", s * 1e3);
  return fmt::format("{:.2f} us", s * 1e6);
}

}  // namespace headway::report
