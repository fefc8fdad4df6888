#pragma once

#include "collectives/reducer.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// What `op` does with elements of `type`, as the module collectives wants it. An MPI error code:
/// MPI_ERR_OP where the standard does not allow the pair.
/// Shape: refers to nothing of `op`, which may be freed; a user's function gets `type`'s handle.
[[nodiscard]] int reducer_for(const operation& op, const datatype& type,
                              collectives::reducer& made);

}  // namespace headway::mpi
