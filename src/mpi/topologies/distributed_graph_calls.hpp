#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 section 8.5.4: graphs of which each process knows only its own edges.
namespace headway::mpi::calls {

/// Any process may pass any edges. A process's edges are ordered by the rank that passed them, and
/// then as that rank passed them: so the k-th edge from a to b is the same one on both.
/// `reorder`: as for Cartesian topologies (cartesian_calls.hpp), by the weights. Keys of `info` are
/// ignored.
int dist_graph_create(communicator& comm, int n, const int* sources, const int* degrees,
                      const int* destinations, const int* weights, info* hints, int reorder,
                      communicator*& made);
/// Every process passes its own edges, so that each edge is passed at both ends.
int dist_graph_create_adjacent(communicator& comm, int indegree, const int* sources,
                               const int* sourceweights, int outdegree, const int* destinations,
                               const int* destweights, info* hints, int reorder,
                               communicator*& made);

int dist_graph_neighbors_count(communicator& comm, int& indegree, int& outdegree, int& weighted);
/// Returns the first `maxindegree` and `maxoutdegree` edges; weights only if the graph has them.
int dist_graph_neighbors(communicator& comm, int maxindegree, int* sources, int* sourceweights,
                         int maxoutdegree, int* destinations, int* destweights);

}  // namespace headway::mpi::calls
