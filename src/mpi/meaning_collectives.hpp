#pragma once

#include <mpi.h>

#include "mpi/communicator.hpp"
#include "mpi/datatype.hpp"
#include "mpi/integers.hpp"
#include "mpi/operation.hpp"
#include "mpi/request.hpp"

/// MPI-5.0 chapter 6: collective operations that wait until they have ended, and operators.
/// Handles, counts and roots are good; buffers may be MPI_IN_PLACE wherever they please.
namespace headway::mpi::meaning {

int barrier(communicator& comm);
int bcast(void* buffer, MPI_Count count, datatype& type, int root, communicator& comm);
int reduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
           int root, communicator& comm);
int allreduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
              communicator& comm);
int scan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
         communicator& comm);
int exscan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
           communicator& comm);
int reduce_scatter(const void* send, void* receive, integers counts, datatype& type, operation& op,
                   communicator& comm);
int reduce_scatter_block(const void* send, void* receive, MPI_Count count, datatype& type,
                         operation& op, communicator& comm);
int gather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
           MPI_Count count, datatype& type, int root, communicator& comm);
int gatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
            integers counts, integers places, datatype& type, int root, communicator& comm);
int scatter(const void* send, MPI_Count count, datatype& type, void* receive,
            MPI_Count receive_count, datatype& receive_type, int root, communicator& comm);
int scatterv(const void* send, integers counts, integers places, datatype& type, void* receive,
             MPI_Count receive_count, datatype& receive_type, int root, communicator& comm);
int allgather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
              MPI_Count count, datatype& type, communicator& comm);
int allgatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
               integers counts, integers places, datatype& type, communicator& comm);
int alltoall(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
             MPI_Count count, datatype& type, communicator& comm);
int alltoallv(const void* send, integers send_counts, integers send_places, datatype& send_type,
              void* receive, integers counts, integers places, datatype& type, communicator& comm);
int alltoallw(const void* send, integers send_counts, integers send_places,
              const MPI_Datatype* send_types, void* receive, integers counts, integers places,
              const MPI_Datatype* types, communicator& comm);

int reduce_local(const void* in, void* inout, MPI_Count count, datatype& type, operation& op);
int op_create(MPI_User_function* function, int commute, operation*& made);
int op_create_c(MPI_User_function_c* function, int commute, operation*& made);
int op_free(operation*& op);
int op_commutative(operation& op, int& commute);

}  // namespace headway::mpi::meaning
