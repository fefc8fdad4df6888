#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 section 7.6: inter-communicators.
namespace headway::mpi::calls {

int comm_test_inter(communicator& comm, int& flag);
int comm_remote_size(communicator& comm, int& size);
int comm_remote_group(communicator& comm, group*& made);

/// `peer` and `remote_leader` have a meaning at the leader only.
int intercomm_create(communicator& local, int local_leader, communicator* peer, int remote_leader,
                     int tag, communicator*& made);
int intercomm_create_from_groups(group& local, int local_leader, group& remote, int remote_leader,
                                 const char* stringtag, info* hints, errhandler& handler,
                                 communicator*& made);
int intercomm_merge(communicator& comm, int high, communicator*& made);

}  // namespace headway::mpi::calls
