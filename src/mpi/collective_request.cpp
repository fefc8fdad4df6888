#include "mpi/collective_request.hpp"

#include <fmt/format.h>

#include "mpi/failure.hpp"
#include "mpi/status.hpp"

namespace headway::mpi {

collective_request::collective_request(communicator& on, collectives::schedule_ptr steps) noexcept
    : steps_(std::move(steps)), kept_(on) {
  comm = &on;
}

int collective_request::start() {
  active = true;
  pending = steps_.get();
  steps_->start();
  return MPI_SUCCESS;
}

int collective_request::finish(MPI_Status& status) {
  set_status_empty(status);
  if (steps_->how() == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return code_of(steps_->how(), steps_->failed_rank(), *comm);
}

void collective_request::release() noexcept { pool<collective_request>::all().drop(this); }

int code_of(messages::outcome how, int failed_rank, const communicator& comm) {
  switch (how) {
    case messages::outcome::ok:
      return MPI_SUCCESS;
    case messages::outcome::truncated:
      return fail_on(
          &comm, MPI_ERR_TRUNCATE,
          fmt::format("rank {} contributes more data than this rank expects from it", failed_rank));
    case messages::outcome::peer_lost:
      return fail_on(
          &comm, MPI_ERR_PROC_ABORTED,
          fmt::format("a process of the communicator is gone, noticed at rank {}", failed_rank));
    case messages::outcome::cancelled:
    case messages::outcome::failed:
      break;
  }
  return fail_on(&comm, MPI_ERR_OTHER,
                 fmt::format("rank {} could not contribute its part, or contributes less data than "
                             "this rank expects from it",
                             failed_rank));
}

}  // namespace headway::mpi
