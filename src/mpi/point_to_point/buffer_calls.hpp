#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/point_to_point/request.hpp"
#include "mpi/sessions/session.hpp"

/// MPI-5.0 section 3.6: memory for buffered sends, of a communicator, a session or the process.
namespace headway::mpi::calls {

int buffer_attach(void* buffer, MPI_Count size);
int buffer_detach(void* buffer_addr, MPI_Count& size);
int buffer_flush();
int buffer_iflush(request*& r);
int comm_attach_buffer(communicator& comm, void* buffer, MPI_Count size);
int comm_detach_buffer(communicator& comm, void* buffer_addr, MPI_Count& size);
int comm_flush_buffer(communicator& comm);
int comm_iflush_buffer(communicator& comm, request*& r);
int session_attach_buffer(session& which, void* buffer, MPI_Count size);
int session_detach_buffer(session& which, void* buffer_addr, MPI_Count& size);
int session_flush_buffer(session& which);
int session_iflush_buffer(session& which, request*& r);

}  // namespace headway::mpi::calls
