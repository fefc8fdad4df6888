#include "mpi/collectives/reduction_operator.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {
namespace {

using collectives::reducer;

/// Calls a user's function, whose length is an int: in parts, if the vector is longer.
void call_user(const reducer& self, const void* left, void* right, std::int64_t count) noexcept {
  auto* function = reinterpret_cast<MPI_User_function*>(self.state);
  auto handle = static_cast<MPI_Datatype>(self.type);
  const auto& layout = find<datatype>(handle)->layout();
  auto* in = static_cast<const std::byte*>(left);
  auto* inout = static_cast<std::byte*>(right);
  while (count > 0) {
    int part = static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
    const auto bytes = part * layout.extent();
    count -= part;
    function(const_cast<std::byte*>(in), inout, &part, &handle);
    in += bytes;
    inout += bytes;
  }
}

void call_user_large(const reducer& self, const void* left, void* right,
                     std::int64_t count) noexcept {
  auto* function = reinterpret_cast<MPI_User_function_c*>(self.state);
  auto handle = static_cast<MPI_Datatype>(self.type);
  MPI_Count length = count;
  function(const_cast<void*>(left), right, &length, &handle);
}

}  // namespace

int reducer_for(const operation& op, const datatype& type, reducer& made) {
  if (!op.predefined) {
    HEADWAY_ASSERT((op.user != nullptr) != (op.user_large != nullptr));
    made = {.apply = op.user ? call_user : call_user_large,
            .state =
                op.user ? reinterpret_cast<void*>(op.user) : reinterpret_cast<void*>(op.user_large),
            .type = handle_of(&type),
            .commutative = op.commutative};
    return MPI_SUCCESS;
  }
  const auto found = collectives::predefined(*op.predefined, type.layout().kind());
  const bool for_accumulate_only = *op.predefined == collectives::operation::replace ||
                                   *op.predefined == collectives::operation::no_op;
  if (!found || for_accumulate_only) {
    return fail(MPI_ERR_OP, "{} is not defined on {}", op.name,
                type.name.empty() ? "a derived datatype" : type.name);
  }
  made = *found;
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
