#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 sections 7.4 and 7.8: communicators. See also intercommunicator_calls.hpp.
namespace headway::mpi::calls {

int comm_size(communicator& comm, int& size);
int comm_rank(communicator& comm, int& rank);
int comm_compare(communicator& comm1, communicator& comm2, int& result);
int comm_group(communicator& comm, group*& made);
int comm_get_parent(communicator*& parent);

int comm_dup(communicator& comm, communicator*& made);
int comm_dup_with_info(communicator& comm, info* hints, communicator*& made);
int comm_idup(communicator& comm, communicator*& made, request*& r);
int comm_idup_with_info(communicator& comm, info* hints, communicator*& made, request*& r);
int comm_create(communicator& comm, group& members, communicator*& made);
int comm_create_group(communicator& comm, group& members, int tag, communicator*& made);
int comm_split(communicator& comm, int color, int key, communicator*& made);
int comm_split_type(communicator& comm, int split_type, int key, info* hints, communicator*& made);
int comm_free(communicator*& comm);
int comm_disconnect(communicator*& comm);

int comm_set_info(communicator& comm, info* hints);
int comm_get_info(communicator& comm, info*& hints);
int comm_set_name(communicator& comm, const char* name);
int comm_get_name(communicator* comm, char* name, int& resultlen);

}  // namespace headway::mpi::calls
