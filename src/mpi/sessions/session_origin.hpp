#pragma once

#include <memory>
#include <string>

#include "mpi/point_to_point/buffer_place.hpp"

namespace headway::mpi {

/// What a session shares with the groups and communicators that are made of it, which may outlive
/// it.
struct session_origin {
  buffer_place buffer;       ///< MPI_Session_attach_buffer
  std::string memory_kinds;  ///< see memory_kinds.hpp
};

/// Null: made of no session, but of MPI_COMM_WORLD or MPI_COMM_SELF.
using session_origin_ref = std::shared_ptr<session_origin>;

}  // namespace headway::mpi
