#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 sections 5.2 and 5.3: packing and unpacking by hand, also in external32.
namespace headway::mpi::calls {

int pack(const void* from, MPI_Count count, datatype& type, void* to, MPI_Count size,
         MPI_Count& position, communicator& comm);
int unpack(const void* from, MPI_Count size, MPI_Count& position, void* to, MPI_Count count,
           datatype& type, communicator& comm);
int pack_size(MPI_Count count, datatype& type, communicator& comm, MPI_Count& size);

int pack_external(const char* representation, const void* from, MPI_Count count, datatype& type,
                  void* to, MPI_Count size, MPI_Count& position);
int unpack_external(const char* representation, const void* from, MPI_Count size,
                    MPI_Count& position, void* to, MPI_Count count, datatype& type);
int pack_external_size(const char* representation, MPI_Count count, datatype& type,
                       MPI_Count& size);

}  // namespace headway::mpi::calls
