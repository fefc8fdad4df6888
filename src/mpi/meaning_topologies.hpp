#pragma once

#include <mpi.h>

#include "mpi/communicator.hpp"

/// MPI-5.0 chapter 8: what of process topologies needs no topology yet.
namespace headway::mpi::meaning {

int topo_test(communicator& comm, int& status);
int dims_create(int nnodes, int ndims, int* dims);

}  // namespace headway::mpi::meaning
