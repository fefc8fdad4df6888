#include <utility>

#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/partitioned/partitioned_request.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"

// Partitioned operations in a timeline: each round is an operation of the calls that start and
// finish it, and each of the sender's partitions has an arrow from the call that marks it as ready
// to the call that finds it at the receiver.
namespace headway::mpi {

void partitioned_request::trace_start(bool receives) {
  auto* const timeline = present_timeline();
  if (timeline == nullptr) return;
  timeline->name_context(comm->id(), comm->name);
  traced_ = timeline->note({.what = report::traced_message::sort::operation,
                            .context = comm->id(),
                            .partner = job_rank(*comm, peer_),
                            .peer = peer_,
                            .tag = tag_,
                            .receives = receives,
                            .bytes = static_cast<std::uint64_t>(bytes()),
                            .posted_ns = base::machine_now_ns()});
}

void partitioned_request::trace_end() noexcept {
  auto* const timeline = present_timeline();
  if (timeline == nullptr || traced_ == nullptr) return;
  if (traced_->completed_ns == 0) traced_->completed_ns = base::machine_now_ns();
  timeline->show(*traced_);
}

void partitioned_request::trace_partition(int number, std::int64_t bytes) noexcept {
  auto* const timeline = present_timeline();
  if (timeline == nullptr || traced_ == nullptr) return;
  auto one = *traced_;
  one.what = report::traced_message::sort::partition;
  one.part = number;
  one.bytes = static_cast<std::uint64_t>(bytes);
  one.completed_ns = 0;
  one.noted_ns = base::machine_now_ns();
  one.noted_by = timeline->thread();
  if (!one.receives) one.posted_ns = one.noted_ns;
  timeline->note(one);
}

void partitioned_receive::trace_arrival(int partition) noexcept {
  if (traced_ == nullptr || how() != messages::outcome::ok || setup_.bytes_each == 0 ||
      bytes_each_ == 0)
    return;  // they are noted with the last one
  trace_parts(parts_of(partition));
}

void partitioned_receive::trace_parts(range which) noexcept {
  const base::lock_guard held(noting_);
  noted_.resize(static_cast<std::size_t>(setup_.partitions));
  for (auto i = which.first; i <= which.last; ++i) {
    if (std::exchange(noted_[static_cast<std::size_t>(i)], 1) != 0) continue;
    trace_partition(setup_.first_tag + static_cast<int>(i), setup_.bytes_each);
  }
}

}  // namespace headway::mpi
