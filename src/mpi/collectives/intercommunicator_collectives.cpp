/// Collective operations on inter-communicators (MPI-5.0 section 6.2.3), for which the schedule is
/// bound to the team of both groups. Each is made of the algorithms for one group, by the ranks of:
///   - the root and the remote group: data to or from all of one group;
///   - the local group: reductions, whose result its leader exchanges with that of the other group;
///   - all of the remote group as neighbours: what every rank gets from every rank.
#include <numeric>

#include "collectives/algorithms.hpp"
#include "collectives/collectives.hpp"
#include "collectives/team_part.hpp"
#include "mpi/collectives/collective_calls.hpp"
#include "mpi/collectives/steps_builder.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi::calls {
namespace {

using collectives::team_part;

std::vector<int> ranks_from(int first, int count) {
  std::vector<int> made(static_cast<std::size_t>(count));
  std::iota(made.begin(), made.end(), first);
  return made;
}

/// The local group.
team_part own_group(steps_builder& b) {
  return {b.steps, b.team, ranks_from(b.comm.first_local(), b.comm.size()), b.comm.rank()};
}

/// The group without the root, and the root behind it: rank i of the group stays rank i.
team_part with_root(steps_builder& b, int root) {
  const auto& comm = b.comm;
  const bool is_root = comm.is_root(root);
  auto ranks = is_root ? ranks_from(comm.first_remote(), comm.peer_count())
                       : ranks_from(comm.first_local(), comm.size());
  ranks.push_back(is_root ? comm.rank_among_all() : comm.first_remote() + root);
  return {b.steps, b.team, std::move(ranks), is_root ? comm.peer_count() : comm.rank()};
}
int number_of_root(const team_part& those) { return those.ranks().size - 1; }

/// All of the remote group.
std::vector<int> remote_neighbors(const steps_builder& b) {
  return ranks_from(b.comm.first_remote(), b.comm.peer_count());
}

int refuse_any_in_place(const void* send, const void* receive) {
  if (in_place(send)) return refuse_in_place("sendbuf");
  if (in_place(receive)) return refuse_in_place("recvbuf");
  return MPI_SUCCESS;
}

/// The process that exchanges what its group has reduced.
bool leads(const steps_builder& b) { return b.comm.rank() == 0; }

/// Reduces the operands of the local group. Returns what its leader has then.
std::byte* reduce_own_group(steps_builder& b, collectives::reduction r) {
  const auto own = own_group(b);
  collectives::values v(b.steps, *r.type);
  std::byte* const result = leads(b) ? v.scratch(r.count) : nullptr;
  r.receive = result;
  collectives::reduce(b.steps, own.ranks(), r, 0);
  return result;
}

/// Both leaders exchange what their groups have reduced.
void swap_results(steps_builder& b, const collectives::reduction& r, const std::byte* own,
                  void* other) {
  collectives::values v(b.steps, *r.type);
  v.receive(b.comm.first_remote(), other, r.count);
  v.send(b.comm.first_remote(), own, r.count);
  v.settle();
}

/// Steps of MPI_Reduce_scatter: `counts` has an entry for each rank of the local group.
void append_reduce_scatter(steps_builder& b, const collectives::reduction& r,
                           const std::vector<std::int64_t>& counts) {
  const std::byte* const own = reduce_own_group(b, r);
  std::vector<std::int64_t> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::int64_t{0});
  collectives::blocks all{.type = r.type, .counts = counts.data(), .places = places.data()};
  if (leads(b)) {
    collectives::values v(b.steps, *r.type);
    all.data = v.scratch(r.count);
    swap_results(b, r, own, all.data);
  }
  const auto group = own_group(b);
  const collectives::block mine{r.receive, counts[static_cast<std::size_t>(group.ranks().rank)],
                                r.type};
  collectives::scatterv(b.steps, group.ranks(), all, &mine, 0);
}

}  // namespace

int barrier::append_inter(steps_builder& b) const { return append(b); }

int bcast::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  if (in_place(buffer)) return refuse_in_place("buffer");
  const auto those = with_root(b, root);
  collectives::bcast(b.steps, those.ranks(), b.one(buffer, count, type), number_of_root(those));
  return MPI_SUCCESS;
}

int reduce::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  const bool is_root = b.comm.is_root(root);
  if (is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  collectives::reduction r;
  if (const int code =
          b.operands(is_root ? nullptr : send, is_root ? receive : nullptr, count, type, op, r))
    return code;
  collectives::values v(b.steps, *r.type);
  if (is_root) {
    v.receive(b.comm.first_remote(), receive, count);
    v.settle();
    return MPI_SUCCESS;
  }
  const std::byte* const own = reduce_own_group(b, r);
  if (leads(b)) {
    v.send(b.comm.first_remote() + root, own, count);
    v.settle();
  }
  return MPI_SUCCESS;
}

int allreduce::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count, type, op, r)) return code;
  const std::byte* const own = reduce_own_group(b, r);
  if (leads(b)) swap_results(b, r, own, receive);
  const auto group = own_group(b);
  collectives::bcast(b.steps, group.ranks(), {receive, count, r.type}, 0);
  return MPI_SUCCESS;
}

int reduce_scatter::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  const auto each = counts.copy(b.comm.size());
  const auto all = std::accumulate(each.begin(), each.end(), MPI_Count{0});
  collectives::reduction r;
  if (const int code = b.operands(send, receive, all, type, op, r)) return code;
  append_reduce_scatter(b, r, {each.begin(), each.end()});
  return MPI_SUCCESS;
}

int reduce_scatter_block::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  const std::vector<std::int64_t> each(static_cast<std::size_t>(b.comm.size()), count);
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count * b.comm.size(), type, op, r)) return code;
  append_reduce_scatter(b, r, each);
  return MPI_SUCCESS;
}

int gather::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  const auto those = with_root(b, root);
  if (b.comm.is_root(root)) {
    if (in_place(receive)) return refuse_in_place("recvbuf");
    collectives::gather(b.steps, those.ranks(), nullptr, b.row(receive, count, type),
                        number_of_root(those));
  } else {
    if (in_place(send)) return refuse_in_place("sendbuf");
    const auto mine = b.one(send, send_count, send_type);
    collectives::gather(b.steps, those.ranks(), &mine, {}, number_of_root(those));
  }
  return MPI_SUCCESS;
}

int gatherv::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  const auto those = with_root(b, root);
  if (b.comm.is_root(root)) {
    if (in_place(receive)) return refuse_in_place("recvbuf");
    if (places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
    steps_builder::varying v;
    b.fill(v, receive, counts, places, type, b.comm.peer_count());
    collectives::gatherv(b.steps, those.ranks(), nullptr, v.all, number_of_root(those));
  } else {
    if (in_place(send)) return refuse_in_place("sendbuf");
    const auto mine = b.one(send, send_count, send_type);
    collectives::gatherv(b.steps, those.ranks(), &mine, {}, number_of_root(those));
  }
  return MPI_SUCCESS;
}

int scatter::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  const auto those = with_root(b, root);
  if (b.comm.is_root(root)) {
    if (in_place(send)) return refuse_in_place("sendbuf");
    collectives::scatter(b.steps, those.ranks(), b.row(send, count, type), nullptr,
                         number_of_root(those));
  } else {
    if (in_place(receive)) return refuse_in_place("recvbuf");
    const auto mine = b.one(receive, receive_count, receive_type);
    collectives::scatter(b.steps, those.ranks(), {}, &mine, number_of_root(those));
  }
  return MPI_SUCCESS;
}

int scatterv::append_inter(steps_builder& b) const {
  if (!b.comm.has_part_in(root)) return MPI_SUCCESS;
  const auto those = with_root(b, root);
  if (b.comm.is_root(root)) {
    if (in_place(send)) return refuse_in_place("sendbuf");
    if (places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
    steps_builder::varying v;
    b.fill(v, send, counts, places, type, b.comm.peer_count());
    collectives::scatterv(b.steps, those.ranks(), v.all, nullptr, number_of_root(those));
  } else {
    if (in_place(receive)) return refuse_in_place("recvbuf");
    const auto mine = b.one(receive, receive_count, receive_type);
    collectives::scatterv(b.steps, those.ranks(), {}, &mine, number_of_root(those));
  }
  return MPI_SUCCESS;
}

int allgather::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  const auto others = remote_neighbors(b);
  collectives::neighbor_allgather_linear(
      b.steps, b.team, {.sources = others, .destinations = others},
      b.one(send, send_count, send_type), b.row(receive, count, type));
  return MPI_SUCCESS;
}

int allgatherv::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  if (places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const auto others = remote_neighbors(b);
  steps_builder::varying to;
  b.fill(to, receive, counts, places, type, b.comm.peer_count());
  collectives::neighbor_allgather_linear(b.steps, b.team,
                                         {.sources = others, .destinations = others},
                                         b.one(send, send_count, send_type), to.all);
  return MPI_SUCCESS;
}

int alltoall::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  const auto others = remote_neighbors(b);
  collectives::neighbor_alltoall_linear(
      b.steps, b.team, {.sources = others, .destinations = others},
      b.row(send, send_count, send_type), b.row(receive, count, type));
  return MPI_SUCCESS;
}

int alltoallv::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  const auto others = remote_neighbors(b);
  steps_builder::varying from, to;
  b.fill(from, send, send_counts, send_places, send_type, b.comm.peer_count());
  b.fill(to, receive, counts, places, type, b.comm.peer_count());
  collectives::neighbor_alltoall_linear(
      b.steps, b.team, {.sources = others, .destinations = others}, from.all, to.all);
  return MPI_SUCCESS;
}

int alltoallw::append_inter(steps_builder& b) const {
  if (const int code = refuse_any_in_place(send, receive)) return code;
  if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  const auto others = remote_neighbors(b);
  steps_builder::varying from, to;
  b.fill(from, send, send_counts, send_places, send_types, b.comm.peer_count());
  b.fill(to, receive, counts, places, types, b.comm.peer_count());
  collectives::neighbor_alltoall_linear(
      b.steps, b.team, {.sources = others, .destinations = others}, from.all, to.all);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
