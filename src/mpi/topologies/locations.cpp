#include "mpi/topologies/locations.hpp"

#include <cstring>

#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "topology/binding.hpp"

namespace headway::mpi {

std::vector<location> known_locations(const communicator& comm) {
  std::vector<location> all;
  for (const auto process : comm.members().peers())
    all.push_back({.node = the_library.runtime->node_of(process)});
  return all;
}

int gather_locations(communicator& comm, std::vector<location>& all) {
  const topology::binding mine = topology::binding::own();
  std::vector<std::byte> gathered;
  if (!gather_from_all(comm, comm.next_agreement_tag(), std::as_bytes(std::span(&mine, 1)),
                       gathered)) {
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  }
  all = known_locations(comm);
  for (std::size_t i = 0; i < all.size(); ++i) {
    topology::binding of_process;
    std::memcpy(&of_process, gathered.data() + i * sizeof of_process, sizeof of_process);
    all[i].package = of_process.package;
    all[i].cache = of_process.cache;
  }
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
