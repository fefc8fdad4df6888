#include "mpi/environment/failure.hpp"

#include <mpi.h>

namespace headway::mpi {

failure& last_failure() noexcept {
  static thread_local failure mine;
  return mine;
}

int fail_with(int code, std::string text) { return fail_on(nullptr, code, std::move(text)); }

int fail_on(const object* owner, int code, std::string text) {
  failure& mine = last_failure();
  mine.code = code;
  mine.owner = owner;
  mine.text = std::move(text);
  return code;
}

int fail_as(const base::fault& fault) {
  const int code = [&] {
    switch (fault.kind) {
      case base::fault_kind::bad_input:
        return MPI_ERR_ARG;
      case base::fault_kind::unsupported:
        return MPI_ERR_UNSUPPORTED_OPERATION;
      case base::fault_kind::no_memory:
        return MPI_ERR_NO_MEM;
      case base::fault_kind::system:
      case base::fault_kind::timed_out:
      case base::fault_kind::refused:
        return MPI_ERR_OTHER;
      case base::fault_kind::peer_lost:
        return MPI_ERR_PROC_ABORTED;
    }
    return MPI_ERR_INTERN;
  }();
  return fail_with(code, fault.text);
}

}  // namespace headway::mpi
