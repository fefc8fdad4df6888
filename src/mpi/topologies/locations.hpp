#pragma once

#include <vector>

#include "mpi/communicators/communicator.hpp"
#include "mpi/topologies/placement.hpp"

namespace headway::mpi {

/// Where the processes of a communicator run, as far as this process knows without asking: on which
/// node. The same in all of them.
[[nodiscard]] std::vector<location> known_locations(const communicator& comm);

/// The same with the package and the cache of each process that is bound within one. Collective:
/// waits for the others. An MPI error code.
[[nodiscard]] int gather_locations(communicator& comm, std::vector<location>& all);

}  // namespace headway::mpi
