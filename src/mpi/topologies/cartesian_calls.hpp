#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"

/// MPI-5.0 section 8.5: Cartesian topologies. Where an array of the caller is shorter than what
/// there is to tell, it gets the first part.
namespace headway::mpi::calls {

/// With `reorder`, ranks are placed so that neighbours share nodes, packages and caches
/// (placement.hpp), as far as the processes are bound to these; else all keep their order.
int cart_create(communicator& comm, int ndims, const int* dims, const int* periods, int reorder,
                communicator*& made);
/// All those with the same coordinates in the dimensions that do not remain.
int cart_sub(communicator& comm, const int* remain_dims, communicator*& made);
/// The rank that a communicator made with `reorder` would give, by the nodes alone: the call is
/// local, and the packages and caches of others are asked for.
int cart_map(communicator& comm, int ndims, const int* dims, const int* periods, int& newrank);

int cartdim_get(communicator& comm, int& ndims);
int cart_get(communicator& comm, int maxdims, int* dims, int* periods, int* coords);
int cart_rank(communicator& comm, const int* coords, int& rank);
int cart_coords(communicator& comm, int rank, int maxdims, int* coords);
int cart_shift(communicator& comm, int direction, int disp, int& rank_source, int& rank_dest);

}  // namespace headway::mpi::calls
