#pragma once

#include <mpi.h>

#include "mpi/communicator.hpp"
#include "mpi/datatype.hpp"
#include "mpi/info.hpp"
#include "mpi/integers.hpp"
#include "mpi/operation.hpp"
#include "mpi/request.hpp"
/// MPI-5.0 section 6.13: collective operations that are set up once and started often.
/// Handles, counts and roots are good; buffers may be MPI_IN_PLACE wherever they please.
namespace headway::mpi::meaning {

int barrier_init(communicator& comm, info* hints, request*& r);
int bcast_init(void* buffer, MPI_Count count, datatype& type, int root, communicator& comm,
               info* hints, request*& r);
int reduce_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                int root, communicator& comm, info* hints, request*& r);
int allreduce_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                   communicator& comm, info* hints, request*& r);
int scan_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
              communicator& comm, info* hints, request*& r);
int exscan_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                communicator& comm, info* hints, request*& r);
int reduce_scatter_init(const void* send, void* receive, integers counts, datatype& type,
                        operation& op, communicator& comm, info* hints, request*& r);
int reduce_scatter_block_init(const void* send, void* receive, MPI_Count count, datatype& type,
                              operation& op, communicator& comm, info* hints, request*& r);
int gather_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                MPI_Count count, datatype& type, int root, communicator& comm, info* hints,
                request*& r);
int gatherv_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                 integers counts, integers places, datatype& type, int root, communicator& comm,
                 info* hints, request*& r);
int scatter_init(const void* send, MPI_Count count, datatype& type, void* receive,
                 MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
                 info* hints, request*& r);
int scatterv_init(const void* send, integers counts, integers places, datatype& type, void* receive,
                  MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
                  info* hints, request*& r);
int allgather_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                   MPI_Count count, datatype& type, communicator& comm, info* hints, request*& r);
int allgatherv_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                    integers counts, integers places, datatype& type, communicator& comm,
                    info* hints, request*& r);
int alltoall_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                  MPI_Count count, datatype& type, communicator& comm, info* hints, request*& r);
int alltoallv_init(const void* send, integers send_counts, integers send_places,
                   datatype& send_type, void* receive, integers counts, integers places,
                   datatype& type, communicator& comm, info* hints, request*& r);
int alltoallw_init(const void* send, integers send_counts, integers send_places,
                   const MPI_Datatype* send_types, void* receive, integers counts, integers places,
                   const MPI_Datatype* types, communicator& comm, info* hints, request*& r);

}  // namespace headway::mpi::meaning
