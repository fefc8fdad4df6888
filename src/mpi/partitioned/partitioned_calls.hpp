#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 chapter 4: partitioned communication. Handles, ranks, tags and counts are good; no hints
/// are known.
namespace headway::mpi::calls {

int psend_init(const void* buf, int partitions, MPI_Count count, datatype& type, int dest, int tag,
               communicator& comm, info* hints, request*& r);
int precv_init(void* buf, int partitions, MPI_Count count, datatype& type, int source, int tag,
               communicator& comm, info* hints, request*& r);
int pready(int partition, request& r);
int pready_range(int low, int high, request& r);
int pready_list(int length, const int* partitions, request& r);
int parrived(request* r, int partition, int& flag);

}  // namespace headway::mpi::calls
