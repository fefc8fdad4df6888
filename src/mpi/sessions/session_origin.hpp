#pragma once

#include <memory>
#include <string>

namespace headway::mpi {

class send_buffer;

/// What a session shares with the groups and communicators that are made of it, which may outlive
/// it.
struct session_origin {
  std::shared_ptr<send_buffer> buffer;  ///< MPI_Session_attach_buffer
  std::string memory_kinds;             ///< see memory_kinds.hpp
};

/// Null: made of no session, but of MPI_COMM_WORLD or MPI_COMM_SELF.
using session_origin_ref = std::shared_ptr<session_origin>;

}  // namespace headway::mpi
