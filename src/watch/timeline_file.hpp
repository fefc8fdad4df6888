#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace headway::watch {

/// Writes what the threads of this process noted (progress/meter.hpp) into `path`, as the JSON that
/// Perfetto and chrome://tracing open, beside what other processes of the job have written there.
/// The file is whole after each process. One that is older than `began_ns` is written anew.
/// Progress: waits while another process writes.
[[nodiscard]] base::result<> add_timeline(const std::string& path, int rank,
                                          std::uint64_t began_ns);

}  // namespace headway::watch
