#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// Makes the launcher that this environment names: see `job::join`.
/// Errors:   also `unsupported`: a PMIx server has started this process, and its library cannot be
///           loaded.
[[nodiscard]] base::result<std::unique_ptr<launcher>> find_launcher(const environment& told,
                                                                    const settings& how);

/// A launcher that has started this process and whose protocol is unknown here, with the variable
/// that shows it: "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4)". Nothing: no such variable is set.
[[nodiscard]] std::optional<std::string> foreign_launcher(const environment& told);

}  // namespace headway::launch
