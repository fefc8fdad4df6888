#pragma once

#include <sys/types.h>

#include "base/result.hpp"
#include "launch/spawn_request.hpp"

namespace headway::launch {

/// Starts Headway's mpiexec, for launchers that cannot be asked for another job. It is looked for
/// in the folder `bin` beside the folder of the library, or of the program, that has this code. It
/// reads nothing from the standard input and writes to the standard streams of this process; its
/// environment is that of this process without the launcher's part.
/// Threads:  any.
/// Errors:   `unsupported`: there is no mpiexec; `system`: it cannot be started.
[[nodiscard]] base::result<pid_t> start_mpiexec(const spawn_request& what);

}  // namespace headway::launch
