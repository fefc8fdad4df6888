#pragma once

#include <mpi.h>

#include "collectives/schedule_cache.hpp"
#include "mpi/collective_steps.hpp"
#include "mpi/communicator.hpp"
#include "mpi/pool.hpp"
#include "mpi/request.hpp"

namespace headway::mpi {

/// A collective operation under way, or a persistent one: a schedule that advances by itself.
/// Threads:  see `request`.
class collective_request final : public request {
 public:
  collective_request(communicator& on, collectives::schedule_ptr steps) noexcept;
  int start() override;
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  collectives::schedule_ptr steps_;
  communicator_ref kept_;
};

/// The MPI error code of a schedule's end; notes what failed, for `comm`.
[[nodiscard]] int code_of(messages::outcome how, int failed_rank, const communicator& comm);

/// Runs what `add` puts into the schedule, and waits. `add(collective_steps&)` gives an error code.
template <class Add>
[[nodiscard]] int run_collective(communicator& comm, const Add& add) {
  const auto steps = collectives::new_schedule();
  collective_steps into(comm, *steps, false);
  if (const int code = add(into)) return code;
  steps->bind(comm.team());
  const auto how = steps->run();
  if (how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return code_of(how, steps->failed_rank(), comm);
}

/// The same, with the schedule of an equal call of late if there is one.
template <class Add>
[[nodiscard]] int run_recent_collective(communicator& comm, const collective_key& key,
                                        const Add& add) {
  auto& slot = comm.recent.slot_of(key);
  if (!slot.steps || slot.key != key) {
    slot.steps = collectives::new_schedule();
    slot.key = key;
    collective_steps into(comm, *slot.steps, false);
    if (const int code = add(into)) {
      slot.steps.reset();
      return code;
    }
  }
  slot.steps->bind(comm.team());
  const auto how = slot.steps->run();
  if (how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  const int failed = slot.steps->failed_rank();
  slot.steps.reset();  // what failed is not run again
  return code_of(how, failed, comm);
}

/// Makes a persistent request for it. It is not started.
template <class Add>
[[nodiscard]] int prepare_collective(communicator& comm, request*& made, const Add& add) {
  auto steps = collectives::new_schedule();
  collective_steps into(comm, *steps, true);
  if (const int code = add(into)) return code;
  steps->bind(comm.team());
  made = pool<collective_request>::all().make(comm, std::move(steps));
  made->persistent = true;
  made->active = false;
  return MPI_SUCCESS;
}

/// Starts it and returns.
template <class Add>
[[nodiscard]] int start_collective(communicator& comm, request*& made, const Add& add) {
  request* prepared = nullptr;
  if (const int code = prepare_collective(comm, prepared, add)) return code;
  prepared->persistent = false;
  made = prepared;
  return made->start();
}

}  // namespace headway::mpi
