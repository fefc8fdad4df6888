#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace headway::watch {

/// What is done with the counters of threads, queues and rails.
enum class statistics_mode : std::uint8_t {
  off,    ///< little is counted, nothing shown
  table,  ///< shown by `headway top`, and as a table on standard error at the end
  top,    ///< shown by `headway top` only
  job,    ///< shown by `headway top`, and by MPI programs as one summary of the job at the end
};

/// The settings of statistics and timelines. The defaults are those of the environment variables.
struct settings {
  statistics_mode statistics = statistics_mode::off;
  std::string trace_file;              ///< where the timeline is written; empty: none is kept
  std::size_t trace_entries = 65'536;  ///< the capacity of a thread's timeline

  [[nodiscard]] bool counts() const noexcept { return statistics != statistics_mode::off; }
  [[nodiscard]] bool summarises() const noexcept { return statistics == statistics_mode::job; }
  [[nodiscard]] bool traces() const noexcept { return !trace_file.empty(); }
  /// As HEADWAY_STATS, HEADWAY_TRACE and HEADWAY_TRACE_EVENTS say.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

/// Makes the threads of this process count and time their work, if the settings need it
/// (progress/core/meter.hpp). Call it before the first engine starts.
void switch_on_meters(const settings& chosen);

}  // namespace headway::watch
