#include "mpi/collectives/collective_calls.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/collectives.hpp"
#include "collectives/shm_collective.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/steps_builder.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi::calls {
namespace {

using collectives::collective;

/// So many elements are worth a place in the schedule cache, and their type cannot be freed.
bool is_kept(MPI_Count count, const datatype& type) noexcept {
  const auto bytes_each = std::max<MPI_Count>(type.layout().size(), 1);
  return count <= collectives::recent_schedules::bytes_max / bytes_each && type.is_predefined();
}

/// The call's key in the schedule cache, if it is small and uses only predefined types and
/// operators.
std::optional<call_key> small_key(call_key key, MPI_Count count, const datatype& type,
                                  const operation* op = nullptr) noexcept {
  if (!is_kept(count, type) || (op && !op->is_predefined())) return {};
  key.count = count;
  key.type = &type;
  key.op = op;
  return key;
}

/// The same for a call whose buffers have counts and types of their own. Those which are not
/// significant on this rank make no difference.
std::optional<call_key> small_key(call_key key, MPI_Count send_count, const datatype& send_type,
                                  MPI_Count count, const datatype& type) noexcept {
  if (!is_kept(send_count, send_type)) return {};
  key.send_count = send_count;
  key.send_type = &send_type;
  return small_key(key, count, type);
}

}  // namespace

std::optional<call_key> barrier::key() const noexcept {
  return call_key{.what = collective::barrier};
}

std::optional<call_key> bcast::key() const noexcept {
  return small_key({.what = collective::bcast, .root = root, .receive = buffer}, count, type);
}

std::optional<call_key> reduce::key() const noexcept {
  return small_key({.what = collective::reduce, .root = root, .send = send, .receive = receive},
                   count, type, &op);
}

std::optional<call_key> allreduce::key() const noexcept {
  return small_key({.what = collective::allreduce, .send = send, .receive = receive}, count, type,
                   &op);
}

std::optional<call_key> scan::key() const noexcept {
  return small_key({.what = collective::scan, .send = send, .receive = receive}, count, type, &op);
}

std::optional<call_key> exscan::key() const noexcept {
  return small_key({.what = collective::exscan, .send = send, .receive = receive}, count, type,
                   &op);
}

std::optional<call_key> reduce_scatter_block::key() const noexcept {
  return small_key({.what = collective::reduce_scatter, .send = send, .receive = receive}, count,
                   type, &op);
}

std::optional<call_key> gather::key() const noexcept {
  return small_key({.what = collective::gather, .root = root, .send = send, .receive = receive},
                   send_count, send_type, count, type);
}

std::optional<call_key> scatter::key() const noexcept {
  return small_key({.what = collective::scatter, .root = root, .send = send, .receive = receive},
                   count, type, receive_count, receive_type);
}

std::optional<call_key> allgather::key() const noexcept {
  return small_key({.what = collective::allgather, .send = send, .receive = receive}, send_count,
                   send_type, count, type);
}

/// In place it needs memory for the blocks of all ranks, which is not kept.
std::optional<call_key> alltoall::key() const noexcept {
  if (in_place(send)) return {};
  return small_key({.what = collective::alltoall, .send = send, .receive = receive}, send_count,
                   send_type, count, type);
}

std::optional<int> barrier::run_in_slots(communicator& comm) const {
  auto& team = comm.team();
  if (!collectives::barrier_uses_slots(team)) return {};
  auto& slots = *team.memory.slots;
  return code_of(slots.share({}, kind), slots.failed_rank(), comm);
}

std::optional<int> allreduce::run_in_slots(communicator& comm) const {
  if (comm.is_inter()) return {};
  auto& team = comm.team();
  constexpr auto bytes_max =
      static_cast<std::int64_t>(collectives::shm_collective::value_bytes_max);
  if (!team.memory.slots || count * type.layout().size() > bytes_max) return {};
  collectives::reduction r;
  if (const int code = operands_of(send, receive, count, type, op, r)) return code;
  if (!collectives::allreduce_uses_slots(team, r)) return {};
  auto& slots = *team.memory.slots;
  if (are_same(send, receive, r.bytes())) {
    static_cast<void>(
        slots.share({}, kind));  // less than the other ranks expect, which ends theirs
    return fail_same(comm);
  }
  return code_of(slots.allreduce(r), slots.failed_rank(), comm);
}

int barrier::append(steps_builder& b) const {
  collectives::barrier(b.steps, b.team);
  return MPI_SUCCESS;
}

int bcast::append(steps_builder& b) const {
  if (in_place(buffer)) return refuse_in_place("buffer");
  collectives::bcast(b.steps, b.team, b.one(buffer, count, type), root);
  return MPI_SUCCESS;
}

int reduce::append(steps_builder& b) const {
  const bool is_root = b.team.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  collectives::reduction r;
  if (const int code = b.operands(send, is_root ? receive : nullptr, count, type, op, r))
    return code;
  collectives::reduce(b.steps, b.team, r, root);
  return MPI_SUCCESS;
}

int allreduce::append(steps_builder& b) const {
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count, type, op, r)) return code;
  collectives::allreduce(b.steps, b.team, r);
  return MPI_SUCCESS;
}

int scan::append(steps_builder& b) const {
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count, type, op, r)) return code;
  collectives::scan(b.steps, b.team, r);
  return MPI_SUCCESS;
}

int exscan::append(steps_builder& b) const {
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count, type, op, r)) return code;
  collectives::exscan(b.steps, b.team, r);
  return MPI_SUCCESS;
}

int reduce_scatter::append(steps_builder& b) const {
  const auto each = counts.copy(b.team.size);
  const auto all = std::accumulate(each.begin(), each.end(), MPI_Count{0});
  collectives::reduction r;
  if (const int code = b.operands(send, receive, all, type, op, r)) return code;
  collectives::reduce_scatter(b.steps, b.team, r, each.data());
  return MPI_SUCCESS;
}

int reduce_scatter_block::append(steps_builder& b) const {
  const std::vector<std::int64_t> each(static_cast<std::size_t>(b.team.size), count);
  collectives::reduction r;
  if (const int code = b.operands(send, receive, count * b.team.size, type, op, r)) return code;
  collectives::reduce_scatter(b.steps, b.team, r, each.data());
  return MPI_SUCCESS;
}

int gather::append(steps_builder& b) const {
  const bool is_root = b.team.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root)
    b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : b.one(send, send_count, send_type);
  const auto all = is_root ? b.row(receive, count, type) : collectives::blocks{};
  collectives::gather(b.steps, b.team, own_in_place ? nullptr : &mine, all, root);
  return MPI_SUCCESS;
}

int gatherv::append(steps_builder& b) const {
  const bool is_root = b.team.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : b.one(send, send_count, send_type);
  steps_builder::varying v;
  if (is_root) b.fill(v, receive, counts, places, type, b.team.size);
  collectives::gatherv(b.steps, b.team, own_in_place ? nullptr : &mine, v.all, root);
  return MPI_SUCCESS;
}

int scatter::append(steps_builder& b) const {
  const bool is_root = b.team.rank == root;
  if (!is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root)
    b.refuse_same(data_begin(send, count, type), data_begin(receive, receive_count, receive_type));
  const bool own_in_place = in_place(receive);
  const auto mine =
      own_in_place ? collectives::block{} : b.one(receive, receive_count, receive_type);
  const auto all = is_root ? b.row(send, count, type) : collectives::blocks{};
  collectives::scatter(b.steps, b.team, all, own_in_place ? nullptr : &mine, root);
  return MPI_SUCCESS;
}

int scatterv::append(steps_builder& b) const {
  const bool is_root = b.team.rank == root;
  if (!is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(receive);
  const auto mine =
      own_in_place ? collectives::block{} : b.one(receive, receive_count, receive_type);
  steps_builder::varying v;
  if (is_root) b.fill(v, send, counts, places, type, b.team.size);
  collectives::scatterv(b.steps, b.team, v.all, own_in_place ? nullptr : &mine, root);
  return MPI_SUCCESS;
}

int allgather::append(steps_builder& b) const {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : b.one(send, send_count, send_type);
  collectives::allgather(b.steps, b.team, own_in_place ? nullptr : &mine,
                         b.row(receive, count, type));
  return MPI_SUCCESS;
}

int allgatherv::append(steps_builder& b) const {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : b.one(send, send_count, send_type);
  steps_builder::varying v;
  b.fill(v, receive, counts, places, type, b.team.size);
  collectives::allgather(b.steps, b.team, own_in_place ? nullptr : &mine, v.all);
  return MPI_SUCCESS;
}

int alltoall::append(steps_builder& b) const {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  b.refuse_same(data_begin(send, send_count, send_type), data_begin(receive, count, type));
  const bool own_in_place = in_place(send);
  const auto from = own_in_place ? collectives::blocks{} : b.row(send, send_count, send_type);
  collectives::alltoall(b.steps, b.team, own_in_place ? nullptr : &from,
                        b.row(receive, count, type));
  return MPI_SUCCESS;
}

int alltoallv::append(steps_builder& b) const {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  steps_builder::varying from, to;
  b.fill(to, receive, counts, places, type, b.team.size);
  const bool own_in_place = in_place(send);
  if (!own_in_place) {
    if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
    b.fill(from, send, send_counts, send_places, send_type, b.team.size);
  }
  collectives::alltoall(b.steps, b.team, own_in_place ? nullptr : &from.all, to.all);
  return MPI_SUCCESS;
}

int alltoallw::append(steps_builder& b) const {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  steps_builder::varying from, to;
  b.fill(to, receive, counts, places, types, b.team.size);
  const bool own_in_place = in_place(send);
  if (!own_in_place) {
    if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
    b.fill(from, send, send_counts, send_places, send_types, b.team.size);
  }
  collectives::alltoall(b.steps, b.team, own_in_place ? nullptr : &from.all, to.all);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
