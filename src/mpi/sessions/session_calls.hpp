#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/sessions/session.hpp"

/// MPI-5.0 section 11.3: sessions, their process sets, and communicators made of groups.
namespace headway::mpi::calls {

int session_init(info* hints, errhandler& handler, session*& made);
int session_finalize(session*& which);
int session_get_info(session& which, info*& made);
int session_get_num_psets(session& which, info* hints, int& count);
int session_get_nth_pset(session& which, info* hints, int n, int& length, char* name);
int session_get_pset_info(session& which, const char* name, info*& made);
int group_from_session_pset(session& which, const char* name, group*& made);
int comm_create_from_group(group& members, const char* stringtag, info* hints, errhandler& handler,
                           communicator*& made);

}  // namespace headway::mpi::calls
