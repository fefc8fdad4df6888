#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace headway::base {

enum class severity { error, warning, info, debug };

/// The settings of the process's log, which is its standard error.
struct log_settings {
  severity least = severity::warning;  ///< HEADWAY_LOG: the least severe kind that is printed

  [[nodiscard]] static log_settings from_environment();
};

/// Applies the settings to the whole process. Any thread.
void log_as(const log_settings& how) noexcept;
/// Sets the name of this process, such as "rank 3", for all later lines. Any thread.
void log_name(std::string_view name);

/// Writes one line, "headway: rank 3: TEXT", on standard error if the settings admit `level`. Any
/// thread; one `write`, so that lines never mix. Allocates the line's text.
void log_line(severity level, std::string_view text) noexcept;

/// Whether lines of this level are printed. Any thread.
[[nodiscard]] bool log_admits(severity level) noexcept;

/// Formats a line and writes it, unless the settings suppress `level`. Any thread.
template <class... Args>
void log(severity level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_admits(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headway::base
