#include "base/log.hpp"

#include <unistd.h>

#include <string>

#include "base/tunable.hpp"

namespace headway::base {
namespace {

choice_tunable log_level{"HEADWAY_LOG",
                         {"error", "warning", "info", "debug"},
                         "warning",
                         "least severe kind of line that is printed on standard error"};

std::string& own_name() {
  static std::string name;
  return name;
}

}  // namespace

void log_name(std::string_view name) { own_name() = name; }

bool log_admits(severity level) noexcept { return static_cast<int>(level) <= log_level.index(); }

void log_line(severity level, std::string_view text) noexcept {
  if (!log_admits(level)) return;
  const auto line = own_name().empty() ? fmt::format("headway: {}\n", text)
                                       : fmt::format("headway: {}: {}\n", own_name(), text);
  // A line that cannot be written is lost: there is nowhere else to say so.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace headway::base
