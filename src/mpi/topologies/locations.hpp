#pragma once

#include <vector>

#include "mpi/communicators/communicator.hpp"
#include "mpi/topologies/placement.hpp"

namespace headway::mpi {

/// The nodes of a communicator's processes, which this process knows without communication. The
/// same in all of them.
[[nodiscard]] std::vector<location> known_locations(const communicator& comm);

/// The same with package and cache of each process that is bound within one. Collective: waits. An
/// MPI error code.
[[nodiscard]] int gather_locations(communicator& comm, std::vector<location>& all);

}  // namespace headway::mpi
