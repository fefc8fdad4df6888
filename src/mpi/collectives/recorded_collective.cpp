#include "mpi/collectives/recorded_collective.hpp"

#include <vector>

#include "base/clock.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"

namespace headway::mpi {

void recorded_collective::begin(communicator& comm, int root, report::dependence waits) {
  if (comm.is_inter() || comm.size() == 1) return;
  if (!comm.calls) {
    std::vector<std::uint32_t> ranks;
    for (int rank = 0; rank < comm.size(); ++rank) ranks.push_back(job_rank(comm, rank));
    comm.calls = &report::log_of(comm.id(), std::move(ranks));
  }
  log_ = comm.calls;
  comm_ = &comm;
  call_ = {.number = log_->next(),
           .entered_ns = base::machine_now_ns(),
           .left_ns = 0,
           .root = job_rank(comm, root),
           .waits = waits};
}

void recorded_collective::end() noexcept {
  call_.left_ns = base::machine_now_ns();
  log_->note(call_);
  auto& thread = report::own_record();
  auto* const timeline = thread.timeline();
  if (timeline == nullptr || !thread.inside) return;
  const auto context = static_cast<std::uint32_t>(comm_->id());
  timeline->name_context(context, comm_->name);
  timeline->note({.context = context, .members = log_->members(), .call = call_, .bytes = bytes_});
}

}  // namespace headway::mpi
