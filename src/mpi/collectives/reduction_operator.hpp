#pragma once

#include "collectives/reducer.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// Makes the reducer (collectives) of `op` for elements of `type`. An MPI error code: MPI_ERR_OP
/// where the standard does not allow the pair.
/// Shape:    does not refer to `op`, which may be freed; a user's function gets `type`'s handle.
[[nodiscard]] int reducer_for(const operation& op, const datatype& type,
                              collectives::reducer& made);

}  // namespace headway::mpi
