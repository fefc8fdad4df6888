#pragma once

#include "collectives/reducer.hpp"
#include "mpi/datatype.hpp"
#include "mpi/operation.hpp"

namespace headway::mpi {

/// What `op` does with elements of `type`, for the room of collectives. An MPI error code:
/// MPI_ERR_OP where the standard admits no such pair.
/// Shape: refers to nothing of `op`, which may be freed; a user's function gets `type`'s handle.
[[nodiscard]] int reducer_for(const operation& op, const datatype& type,
                              collectives::reducer& made);

}  // namespace headway::mpi
