#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"

/// MPI-5.0 chapter 8: the calls that are not specific to one kind of topology.
namespace headway::mpi::calls {

int topo_test(communicator& comm, int& status);
/// Fills in the dimensions that are 0, not increasing: with the least difference between the
/// largest and the smallest, then with the largest smallest one. Milliseconds at most.
int dims_create(int nnodes, int ndims, int* dims);

}  // namespace headway::mpi::calls
