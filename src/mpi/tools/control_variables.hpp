#pragma once

#include <span>

#include "base/thread_annotations.hpp"
#include "base/tunable.hpp"
#include "mpi/tools/interface.hpp"

namespace headway::mpi::tools {

/// The control variables: every setting, sorted by name. The list does not change.
[[nodiscard]] std::span<base::tunable* const> control_variables();

void free_control_handles() HEADWAY_REQUIRES(lock);

}  // namespace headway::mpi::tools
