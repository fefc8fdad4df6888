#include "mpi/topologies/neighbor_calls.hpp"

#include "collectives/neighbors.hpp"
#include "mpi/collectives/steps_builder.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi::calls {
namespace {

using collectives::neighborhood;

/// Finds the processes that this one exchanges data with, after the checks common to all these
/// calls.
int find_neighbors(const steps_builder& b, const void* send, const void* receive,
                   neighborhood& found) {
  const auto* topology = b.comm.topology.get();
  if (!topology) return fail(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  if (!topology->is_consistent()) {
    return fail(MPI_ERR_TOPOLOGY,
                "the communicator's graph has an edge without its reverse, which neighbourhood "
                "collectives need; MPI_Dist_graph_create makes directed graphs");
  }
  if (in_place(send)) return refuse_in_place("sendbuf");
  if (in_place(receive)) return refuse_in_place("recvbuf");
  found = topology->neighborhood();
  return MPI_SUCCESS;
}

int count_of(std::span<const int> neighbors) noexcept { return static_cast<int>(neighbors.size()); }

int check_places(bool is_null, const char* argument, std::span<const int> neighbors) {
  if (!is_null || neighbors.empty()) return MPI_SUCCESS;
  return fail(MPI_ERR_ARG, "{} is null", argument);
}

/// The call's key in the schedule cache, if it is small and both ends use one predefined type.
template <class Call>
std::optional<collectives::call_key> key_of_equal_blocks(collectives::collective what,
                                                         const Call& c) noexcept {
  if (!c.type.is_predefined() || &c.send_type != &c.type || c.send_count != c.count) return {};
  if (c.count * c.type.layout().size() > collectives::recent_schedules::bytes_max) return {};
  return collectives::call_key{.what = what,
                               .neighbors = true,
                               .send = c.send,
                               .receive = c.receive,
                               .count = c.count,
                               .type = &c.type};
}

/// Whether the call may be made in lines: what is wrong with it, if anything, another way finds.
template <class Call>
bool may_use_lines(communicator& comm, const Call& c) noexcept {
  return comm.team().memory.edges && !in_place(c.send) && !in_place(c.receive) &&
         !begin_together(data_begin(c.send, c.send_count, c.send_type),
                         data_begin(c.receive, c.count, c.type)) &&
         c.send_type.layout().is_contiguous() && c.type.layout().is_contiguous();
}

}  // namespace

bool neighbor_allgather::run_in_lines(communicator& comm) const {
  if (!may_use_lines(comm, *this)) return false;
  const auto all = row_of(receive, count, type);
  return collectives::neighbor_allgather_in_lines(comm.team(), comm.topology->neighborhood(),
                                                  row_of(send, send_count, send_type).of(0), all);
}

bool neighbor_alltoall::run_in_lines(communicator& comm) const {
  if (!may_use_lines(comm, *this)) return false;
  return collectives::neighbor_alltoall_in_lines(comm.team(), comm.topology->neighborhood(),
                                                 row_of(send, send_count, send_type),
                                                 row_of(receive, count, type));
}

std::optional<collectives::call_key> neighbor_allgather::key() const noexcept {
  return key_of_equal_blocks(collectives::collective::allgather, *this);
}

std::optional<collectives::call_key> neighbor_alltoall::key() const noexcept {
  return key_of_equal_blocks(collectives::collective::alltoall, *this);
}

int neighbor_allgather::append(steps_builder& b) const {
  neighborhood n;
  if (const int code = find_neighbors(b, send, receive, n)) return code;
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  collectives::neighbor_allgather(b.steps, b.team, n, b.one(send, send_count, send_type),
                                  b.row(receive, count, type));
  return MPI_SUCCESS;
}

int neighbor_allgatherv::append(steps_builder& b) const {
  neighborhood n;
  if (const int code = find_neighbors(b, send, receive, n)) return code;
  if (const int code = check_places(places.is_null(), "displs", n.sources)) return code;
  steps_builder::varying to;
  b.fill(to, receive, counts, places, type, count_of(n.sources));
  collectives::neighbor_allgatherv(b.steps, b.team, n, b.one(send, send_count, send_type), to.all);
  return MPI_SUCCESS;
}

int neighbor_alltoall::append(steps_builder& b) const {
  neighborhood n;
  if (const int code = find_neighbors(b, send, receive, n)) return code;
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  collectives::neighbor_alltoall(b.steps, b.team, n, b.row(send, send_count, send_type),
                                 b.row(receive, count, type));
  return MPI_SUCCESS;
}

int neighbor_alltoallv::append(steps_builder& b) const {
  neighborhood n;
  if (const int code = find_neighbors(b, send, receive, n)) return code;
  if (const int code = check_places(send_places.is_null(), "sdispls", n.destinations)) return code;
  if (const int code = check_places(places.is_null(), "rdispls", n.sources)) return code;
  steps_builder::varying from, to;
  b.fill(from, send, send_counts, send_places, send_type, count_of(n.destinations));
  b.fill(to, receive, counts, places, type, count_of(n.sources));
  collectives::neighbor_alltoallv(b.steps, b.team, n, from.all, to.all);
  return MPI_SUCCESS;
}

int neighbor_alltoallw::append(steps_builder& b) const {
  neighborhood n;
  if (const int code = find_neighbors(b, send, receive, n)) return code;
  steps_builder::varying from, to;
  b.fill(from, send, send_counts, integers(send_places), send_types, count_of(n.destinations));
  b.fill(to, receive, counts, integers(places), types, count_of(n.sources));
  collectives::neighbor_alltoallv(b.steps, b.team, n, from.all, to.all);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
