#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 section 8.5: graphs that every process knows as a whole. An output array of the caller
/// that is too short gets the first values.
namespace headway::mpi::calls {

/// `reorder` and the map: as for Cartesian topologies (cartesian_calls.hpp).
int graph_create(communicator& comm, int nnodes, const int* indx, const int* edges, int reorder,
                 communicator*& made);
int graph_map(communicator& comm, int nnodes, const int* indx, const int* edges, int& newrank);

int graphdims_get(communicator& comm, int& nnodes, int& nedges);
int graph_get(communicator& comm, int maxindex, int maxedges, int* indx, int* edges);
int graph_neighbors_count(communicator& comm, int rank, int& nneighbors);
int graph_neighbors(communicator& comm, int rank, int maxneighbors, int* neighbors);

}  // namespace headway::mpi::calls
