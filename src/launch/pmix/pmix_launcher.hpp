#pragma once

#include <memory>

#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "launch/settings.hpp"

namespace headway::launch {

/// Whether a PMIx server started this process: Slurm's srun --mpi=pmix, PRRTE, Open MPI's mpirun.
[[nodiscard]] bool pmix_server_is_named(const environment& told) noexcept;

/// Connects to that server through libpmix, which is loaded for this.
/// Threads:  as `launcher`. libpmix has one connection per process: one at a time.
/// Progress: each call of the library runs on a thread of its own, so that one that does not return
///           times out here; that thread is then abandoned.
/// Errors:   `unsupported`: libpmix cannot be loaded, or this was built without PMIx.
/// Source:   PMIx standard 4.1; headers and library of OpenPMIx.
[[nodiscard]] base::result<std::unique_ptr<launcher>> join_pmix(const settings& how);

}  // namespace headway::launch
