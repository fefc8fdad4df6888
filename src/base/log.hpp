#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace headway::base {

enum class severity { error, warning, info, debug };

/// Names this process in every line that follows ("rank 3"). Call once, before threads start.
void log_name(std::string_view name);

/// Writes one whole line, "headway: rank 3: TEXT", on standard error when `HEADWAY_LOG` admits
/// `level` (default: warning). Any thread; one `write`, so that lines never mix.
void log_line(severity level, std::string_view text) noexcept;

[[nodiscard]] bool log_admits(severity level) noexcept;

template <class... Args>
void log(severity level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_admits(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headway::base
