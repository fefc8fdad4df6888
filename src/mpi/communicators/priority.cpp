// The calls of headway/communicator.h.
#include "headway/communicator.h"
#include "mpi/abi/entry.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {
namespace {

/// Calls `work` with the communicator, as an entry point of MPI does: errors go to its handler.
template <class Work>
int with_communicator(const call_site& site, MPI_Comm comm, Work work) {
  if (calls_are() == library::call_mode::refused) return refuse_state(site);
  communicator* const found = find<communicator>(comm);
  if (found == nullptr) return refuse_handle(site, nullptr, 1, comm);
  const int code =
      found->is_open()
          ? work(*found)
          : fail(MPI_ERR_COMM, "argument 1 (comm) is of a request that is not complete");
  return code == MPI_SUCCESS ? code : raise(site, found, code);
}

static_assert(HEADWAY_PRIORITY_NORMAL == false && HEADWAY_PRIORITY_URGENT == true);

constexpr const char* argument_names[] = {"comm", "priority", nullptr};

}  // namespace
}  // namespace headway::mpi

[[gnu::visibility("default")]] int headway_comm_set_priority(MPI_Comm comm, int priority) {
  using namespace headway::mpi;
  static constexpr call_site site{
      "headway_comm_set_priority", argument_names, handler_scope::common, {}};
  return with_communicator(site, comm, [&](communicator& found) -> int {
    if (priority != HEADWAY_PRIORITY_NORMAL && priority != HEADWAY_PRIORITY_URGENT)
      return fail(MPI_ERR_ARG, "argument 2 (priority) is {}, which is no priority", priority);
    found.set_urgent(priority == HEADWAY_PRIORITY_URGENT);
    return MPI_SUCCESS;
  });
}

[[gnu::visibility("default")]] int headway_comm_get_priority(MPI_Comm comm, int* priority) {
  using namespace headway::mpi;
  static constexpr call_site site{
      "headway_comm_get_priority", argument_names, handler_scope::common, {}};
  return with_communicator(site, comm, [&](communicator& found) -> int {
    if (priority == nullptr) return fail(MPI_ERR_ARG, "argument 2 (priority) is null");
    *priority = found.is_urgent() ? HEADWAY_PRIORITY_URGENT : HEADWAY_PRIORITY_NORMAL;
    return MPI_SUCCESS;
  });
}
