#include "mpi/collectives/collective_request.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "mpi/collectives/names.hpp"
#include "mpi/collectives/steps_builder.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/status.hpp"

namespace headway::mpi {
namespace {

/// The MPI error code of a schedule that has ended.
int code_of(const collectives::schedule_run& s, const communicator& comm) {
  if (s.is_refused()) [[unlikely]]
    return fail_same(comm);
  return code_of(s.how(), s.failed_rank(), comm);
}

}  // namespace

collective_request::collective_request(communicator& on,
                                       collectives::recent_schedules::lease steps) noexcept
    : kept_(on), steps_(std::move(steps)) {
  comm = &on;
}

int collective_request::start() {
  active = true;
  pending = &*steps_;
  if (traced) [[unlikely]]
    traced->start();
  steps_->start();
  return MPI_SUCCESS;
}

int collective_request::finish(MPI_Status& status) {
  HEADWAY_DEBUG_ASSERT(steps_->test());
  set_status_empty(status);
  if (traced) [[unlikely]]
    traced->end();
  if (steps_->how() != messages::outcome::ok) [[unlikely]]
    steps_.discard();
  return code_of(*steps_, *comm);
}

void collective_request::release() noexcept { pool<collective_request>::all().drop(this); }

namespace {

/// An MPI error code.
int append(communicator& comm, const collective_call& call, collectives::schedule& steps,
           bool keep_types) {
  steps_builder into(comm, steps, keep_types);
  return call.append(call.arguments, into);
}

/// Takes the schedule of an equal call from the cache, or builds one. An MPI error code.
int build(communicator& comm, const collective_call& call,
          collectives::recent_schedules::lease& steps, bool keep_types) {
  if (!steps.is_built()) {
    if (const int code = append(comm, call, *steps, keep_types)) {
      steps.discard();
      return code;
    }
  }
  steps->bind(comm.team(), call.what);
  return MPI_SUCCESS;
}

collectives::recent_schedules::lease steps_for(communicator& comm, const optional_key& key) {
  if (key) return comm.recent_schedules().take(*key);
  return {};
}

/// A request that is not started.
request* request_of(communicator& comm, collectives::recent_schedules::lease steps,
                    traced_ptr traced) {
  auto* const made = pool<collective_request>::all().make(comm, std::move(steps));
  made->active = false;
  made->traced = std::move(traced);
  return made;
}

}  // namespace

bool collective_call::is_inter(const steps_builder& to) noexcept { return to.comm.is_inter(); }

int collective_call::refuse_inter() {
  return fail(MPI_ERR_COMM, "the operation is not defined on inter-communicators");
}

int run_collective(communicator& comm, const collective_call& call, const optional_key& key) {
  auto steps = steps_for(comm, key);
  if (const int code = build(comm, call, steps, false)) return code;
  if (steps->run() != messages::outcome::ok) [[unlikely]]
    steps.discard();
  return code_of(*steps, comm);
}

int start_collective(communicator& comm, const collective_call& call, const optional_key& key,
                     traced_ptr traced, request*& made) {
  auto steps = steps_for(comm, key);
  if (const int code = build(comm, call, steps, true)) return code;
  made = request_of(comm, std::move(steps), std::move(traced));
  return made->start();
}

int prepare_collective(communicator& comm, const collective_call& call, traced_ptr traced,
                       request*& made) {
  comm.count_persistent_collective(call.what);
  collectives::recent_schedules::lease steps;
  comm.begin_persistent(*steps);
  int code = append(comm, call, *steps, true);
  // A call that fails takes part too, because the other ranks wait.
  const bool settled = comm.settle_persistent(*steps, code == MPI_SUCCESS);
  if (code == MPI_SUCCESS && !settled) code = append(comm, call, *steps, true);
  if (code != MPI_SUCCESS) return code;
  steps->bind(comm.team(), call.what);
  made = request_of(comm, std::move(steps), std::move(traced));
  made->persistent = true;
  return MPI_SUCCESS;
}

int failure_code(messages::outcome how, int failed_rank, const communicator& comm) {
  const auto& log = comm.operations();
  if (how != messages::outcome::peer_lost && log.is_broken())
    return fail_on(&comm, MPI_ERR_OTHER, text_of_misfit(comm, log));
  const auto whose = name_of(comm, failed_rank);
  switch (how) {
    case messages::outcome::truncated:
      return fail_on(&comm, MPI_ERR_TRUNCATE,
                     fmt::format("{} contributes more data than this rank expects from it", whose));
    case messages::outcome::peer_lost:
      return fail_on(&comm, MPI_ERR_PROC_ABORTED,
                     fmt::format("a process of the communicator is gone, noticed at {}", whose));
    case messages::outcome::ok:
    case messages::outcome::cancelled:
    case messages::outcome::failed:
      break;
  }
  return fail_on(&comm, MPI_ERR_OTHER,
                 fmt::format("{} could not contribute its part, or contributes less data than this "
                             "rank expects from it",
                             whose));
}

}  // namespace headway::mpi
