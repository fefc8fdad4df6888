#pragma once

#include <string>

#include "base/result.hpp"

namespace headway::watch {

/// Writes what the threads of this process noted (progress/meter.hpp) into `path`, as the JSON that
/// Perfetto and chrome://tracing open, beside what other processes of the job have written there.
/// The file is whole after each process. It names the job in its first line: that of another `job`
/// is written anew.
/// Progress: waits while another process writes.
[[nodiscard]] base::result<> add_timeline(const std::string& path, int rank,
                                          const std::string& job);

}  // namespace headway::watch
