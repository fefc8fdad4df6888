#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"

/// MPI-5.0 section 8.5: Cartesian topologies. An output array of the caller that is too short gets
/// the first values.
namespace headway::mpi::calls {

/// With `reorder`, ranks are placed so that neighbours share nodes, packages and caches
/// (placement.hpp), as far as the processes are bound to these; else all keep their ranks.
int cart_create(communicator& comm, int ndims, const int* dims, const int* periods, int reorder,
                communicator*& made);
/// Makes communicators of the processes with equal coordinates in the dimensions that do not
/// remain.
int cart_sub(communicator& comm, const int* remain_dims, communicator*& made);
/// The rank with `reorder`, computed from nodes alone: the call is local, and packages and caches
/// of other processes are known only after communication.
int cart_map(communicator& comm, int ndims, const int* dims, const int* periods, int& newrank);

int cartdim_get(communicator& comm, int& ndims);
int cart_get(communicator& comm, int maxdims, int* dims, int* periods, int* coords);
int cart_rank(communicator& comm, const int* coords, int& rank);
int cart_coords(communicator& comm, int rank, int maxdims, int* coords);
int cart_shift(communicator& comm, int direction, int disp, int& rank_source, int& rank_dest);

}  // namespace headway::mpi::calls
