#pragma once

#include <mpi.h>

#include "mpi/communicator.hpp"
#include "mpi/datatype.hpp"
#include "mpi/integers.hpp"
#include "mpi/operation.hpp"
#include "mpi/request.hpp"

/// MPI-5.0 section 6.12: collective operations that advance by themselves.
/// Handles, counts and roots are good; buffers may be MPI_IN_PLACE wherever they please.
namespace headway::mpi::meaning {

int ibarrier(communicator& comm, request*& r);
int ibcast(void* buffer, MPI_Count count, datatype& type, int root, communicator& comm,
           request*& r);
int ireduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
            int root, communicator& comm, request*& r);
int iallreduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
               communicator& comm, request*& r);
int iscan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
          communicator& comm, request*& r);
int iexscan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
            communicator& comm, request*& r);
int ireduce_scatter(const void* send, void* receive, integers counts, datatype& type, operation& op,
                    communicator& comm, request*& r);
int ireduce_scatter_block(const void* send, void* receive, MPI_Count count, datatype& type,
                          operation& op, communicator& comm, request*& r);
int igather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
            MPI_Count count, datatype& type, int root, communicator& comm, request*& r);
int igatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
             integers counts, integers places, datatype& type, int root, communicator& comm,
             request*& r);
int iscatter(const void* send, MPI_Count count, datatype& type, void* receive,
             MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
             request*& r);
int iscatterv(const void* send, integers counts, integers places, datatype& type, void* receive,
              MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
              request*& r);
int iallgather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
               MPI_Count count, datatype& type, communicator& comm, request*& r);
int iallgatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                integers counts, integers places, datatype& type, communicator& comm, request*& r);
int ialltoall(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
              MPI_Count count, datatype& type, communicator& comm, request*& r);
int ialltoallv(const void* send, integers send_counts, integers send_places, datatype& send_type,
               void* receive, integers counts, integers places, datatype& type, communicator& comm,
               request*& r);
int ialltoallw(const void* send, integers send_counts, integers send_places,
               const MPI_Datatype* send_types, void* receive, integers counts, integers places,
               const MPI_Datatype* types, communicator& comm, request*& r);

}  // namespace headway::mpi::meaning
