#include "mpi/one_sided/window_request.hpp"

#include <utility>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"

namespace headway::mpi {

window_request::window_request(window& on, windows::pending_ptr left) noexcept
    : on_(on), left_(std::move(left)) {
  pending = left_ ? &left_->done : nullptr;
  comm = &on.comm();
}

int window_request::finish(MPI_Status& status) {
  set_status_done(status);
  return left_ ? code_of(left_->how(), on_) : MPI_SUCCESS;
}

void window_request::release() noexcept { pool<window_request>::all().drop(this); }

}  // namespace headway::mpi
