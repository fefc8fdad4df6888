#include "mpi/collectives/operator_calls.hpp"

#include "mpi/collectives/reduction_operator.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {

int reduce_local(const void* in, void* inout, MPI_Count count, datatype& type, operation& op) {
  if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE) {
    return fail(MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
  }
  if (in == inout && in != MPI_BOTTOM && count * type.layout().size() > 0)
    return fail(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same memory");
  collectives::reducer reducer;
  if (const int code = reducer_for(op, type, reducer)) return code;
  if (count > 0) reducer.apply(reducer, in, inout, count);
  return MPI_SUCCESS;
}

int op_create(MPI_User_function* function, int commute, operation*& made) {
  if (function == nullptr) return fail(MPI_ERR_ARG, "user_fn is null");
  made = pool<operation>::all().make(function, commute != 0);
  return MPI_SUCCESS;
}

int op_create_c(MPI_User_function_c* function, int commute, operation*& made) {
  if (function == nullptr) return fail(MPI_ERR_ARG, "user_fn is null");
  made = pool<operation>::all().make(function, commute != 0);
  return MPI_SUCCESS;
}

int op_free(operation*& op) {
  if (op->is_predefined()) return fail(MPI_ERR_OP, "{} cannot be freed", op->name);
  pool<operation>::all().drop(op);
  op = nullptr;
  return MPI_SUCCESS;
}

int op_commutative(operation& op, int& commute) {
  commute = op.commutative;
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
