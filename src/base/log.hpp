#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace headway::base {

enum class severity { error, warning, info, debug };

/// How this process logs. A process has one log, as it has one standard error.
struct log_settings {
  severity least = severity::warning;  ///< HEADWAY_LOG: the least severe kind that is printed

  [[nodiscard]] static log_settings from_environment();
};

/// From now on, in the whole process. Any thread.
void log_as(const log_settings& how) noexcept;
/// Names this process in every line that follows: "rank 3". Any thread; the last name holds.
void log_name(std::string_view name);

/// Writes one whole line, "headway: rank 3: TEXT", on standard error when the settings admit
/// `level`. Any thread; one `write`, so that lines never mix.
void log_line(severity level, std::string_view text) noexcept;

[[nodiscard]] bool log_admits(severity level) noexcept;

template <class... Args>
void log(severity level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_admits(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headway::base
