#pragma once

#include <mpi.h>

#include "mpi/collectives/operation.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 sections 6.9.5 to 6.9.7: operators, and reductions without communication. The entry
/// points have checked handles and counts; buffers may be MPI_IN_PLACE.
namespace headway::mpi::calls {

int reduce_local(const void* in, void* inout, MPI_Count count, datatype& type, operation& op);
int op_create(MPI_User_function* function, int commute, operation*& made);
int op_create_c(MPI_User_function_c* function, int commute, operation*& made);
int op_free(operation*& op);
int op_commutative(operation& op, int& commute);

}  // namespace headway::mpi::calls
