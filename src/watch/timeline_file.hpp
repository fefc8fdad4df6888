#pragma once

#include <string>

#include "base/result.hpp"

namespace headway::watch {

/// Adds the timelines of this process's threads (progress/core/meter.hpp) to the file `path`, as
/// the JSON that Perfetto and chrome://tracing open. All processes of a job write to the same file,
/// which is complete after each of them. Its first line names the job: a file of another job is
/// replaced.
/// Progress: waits while another process writes.
[[nodiscard]] base::result<> add_timeline(const std::string& path, int rank,
                                          const std::string& job);

}  // namespace headway::watch
