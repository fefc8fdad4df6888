#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 section 8.5: graphs that all processes know whole. Where an array of the caller is
/// shorter than what there is to tell, it gets the first part.
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
