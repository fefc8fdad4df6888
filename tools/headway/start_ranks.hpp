#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::tool {

/// Replaces this process by `mpiexec`, which starts `headway COMMAND OPTIONS…` as `ranks` ranks on
/// this machine. Returns only when it could not: an exit code, after a line on standard error.
[[nodiscard]] int start_ranks(int ranks, std::string_view command,
                              const std::vector<std::string>& options);

}  // namespace headway::tool
