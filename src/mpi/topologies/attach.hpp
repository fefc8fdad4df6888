#pragma once

#include <span>
#include <vector>

#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi {

/// Makes a communicator with a topology: process `order[i]` of `parent` has rank i. A process that
/// is not in `order` gets none. One collective call may make several communicators of different
/// processes. Collective over `parent`: waits. An MPI error code.
[[nodiscard]] int create_with_topology(communicator& parent, std::span<const int> order,
                                       process_topology::shape what, communicator*& made);

/// 0, 1, …, count - 1.
[[nodiscard]] std::vector<int> same_order(int count);
/// The index of `rank` in `order`, or MPI_UNDEFINED.
[[nodiscard]] int position_in(std::span<const int> order, int rank) noexcept;

/// Finds the topology of `comm` if it has that shape, else MPI_ERR_TOPOLOGY.
template <class Shape>
[[nodiscard]] int topology_of(const communicator& comm, const char* shape, const Shape*& found) {
  found = comm.topology ? comm.topology->as<Shape>() : nullptr;
  if (found) return MPI_SUCCESS;
  return fail(MPI_ERR_TOPOLOGY, "argument 1 (comm) has no {} topology", shape);
}

}  // namespace headway::mpi
