#include "mpi/collectives/recorded_collective.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"
#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi {
namespace {

/// The log of the communicator. Null: no rank of it waits for another one of the same group.
report::collective_log* log_of(communicator& comm) {
  if (comm.is_inter() || comm.size() == 1) return nullptr;
  if (!comm.calls) {
    std::vector<std::uint32_t> ranks;
    for (int rank = 0; rank < comm.size(); ++rank) ranks.push_back(job_rank(comm, rank));
    comm.calls = &report::log_of(comm.id(), std::move(ranks));
  }
  return comm.calls;
}

/// Ranks in the job, each once.
std::vector<std::uint32_t> job_ranks(const communicator& comm, std::span<const int> ranks) {
  std::vector<std::uint32_t> found;
  for (const int rank : ranks)
    if (rank != MPI_PROC_NULL && rank != comm.rank()) found.push_back(job_rank(comm, rank));
  std::ranges::sort(found);
  const auto again = std::ranges::unique(found);
  found.erase(again.begin(), again.end());
  return found;
}

/// The operation in a timeline, with the next number of its communicator.
report::traced_collective describe(const communicator& comm, report::collective_log& log,
                                   const collective_facts& what) {
  report::traced_collective made{.context = comm.id(),
                                 .first = log.members().front(),
                                 .number = log.next_traced(),
                                 .bytes = what.bytes};
  if (what.waits) {
    made.set_arrows(*what.waits, log.members(), job_rank(comm, what.root),
                    job_rank(comm, comm.rank()));
  } else if (comm.topology) {
    const auto neighbors = comm.topology->neighborhood();
    made.from = job_ranks(comm, neighbors.sources);
    made.to = job_ranks(comm, neighbors.destinations);
  }
  return made;
}

}  // namespace

void recorded_collective::begin(communicator& comm, const collective_facts& what) {
  log_ = log_of(comm);
  if (!log_) return;
  comm_ = &comm;
  what_ = what;
  call_ = {.number = what.compared ? log_->next() : 0,
           .entered_ns = base::machine_now_ns(),
           .left_ns = 0,
           .root = job_rank(comm, what.root),
           .waits = what.waits.value_or(report::dependence::on_all)};
}

void recorded_collective::end() noexcept {
  call_.left_ns = base::machine_now_ns();
  if (what_.compared) log_->note(call_);
  auto* const timeline = present_timeline();
  if (timeline == nullptr) return;
  auto one = describe(*comm_, *log_, what_);
  one.entered_ns = call_.entered_ns;
  one.left_ns = call_.left_ns;
  one.entered_by = one.left_by = timeline->thread();
  timeline->name_context(one.context, comm_->name);
  timeline->note(std::move(one));
}

std::unique_ptr<traced_operation> traced_operation::make(communicator& comm,
                                                         const collective_facts& what) {
  auto* const log = present_timeline() ? log_of(comm) : nullptr;
  if (log == nullptr) return {};
  auto made = std::make_unique<traced_operation>();
  made->comm_ = &comm;
  made->shape_ = describe(comm, *log, what);
  made->shape_.blocking = false;
  return made;
}

void traced_operation::start() {
  auto* const timeline = present_timeline();
  if (timeline == nullptr) return;
  shape_.entered_ns = report::own_record().call_began_ns();
  shape_.entered_by = timeline->thread();
  timeline->name_context(shape_.context, comm_->name);
  present_ = timeline->note(report::traced_collective(shape_));
  ++shape_.round;
}

void traced_operation::end() noexcept {
  auto* const timeline = present_timeline();
  if (timeline == nullptr || present_ == nullptr) return;
  if (present_->left_ns == 0) {
    present_->left_ns = base::machine_now_ns();
    present_->left_by = timeline->thread();
  }
  timeline->show(*present_);
}

}  // namespace headway::mpi
