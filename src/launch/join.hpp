#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launch/environment.hpp"
#include "launch/job.hpp"

namespace headway::launch {

/// `job::join` for a given environment.
[[nodiscard]] base::result<std::unique_ptr<job>> join_from(const environment& told);

/// The launcher that started this process and that we cannot talk to, with the variable that
/// betrays it: "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4)". Nothing if there is no sign of one.
[[nodiscard]] std::optional<std::string> foreign_launcher(const environment& told);

}  // namespace headway::launch
