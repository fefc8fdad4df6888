#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway::watch {

/// Adds the timelines of this process's threads (progress/core/meter.hpp) to the file `path`, as
/// JSON for Perfetto and chrome://tracing. All processes of a job add to the same file, which is
/// valid after each of them. Its first line names the job; a file of another job is replaced.
/// `more`: further entries of this process, each after a comma.
/// Progress: waits while another process writes (flock).
/// Errors:   `system`, with the file's name.
[[nodiscard]] base::result<> add_timeline(const std::string& path, int rank, const std::string& job,
                                          std::string_view more = {});

}  // namespace headway::watch
