#include "mpi/collective_steps.hpp"

#include <numeric>

#include "mpi/failure.hpp"
#include "mpi/reduction_operator.hpp"

namespace headway::mpi {
namespace {

bool in_place(const void* buffer) noexcept { return buffer == MPI_IN_PLACE; }

int refuse_in_place(const char* argument) {
  return fail(MPI_ERR_BUFFER, "{} is MPI_IN_PLACE, which has no meaning there", argument);
}

/// Two buffers that are the same one: cheap to see, and the most common mistake.
int apart(const void* send, const void* receive, MPI_Count bytes) {
  if (send != receive || bytes == 0 || send == MPI_BOTTOM) return MPI_SUCCESS;
  return fail(MPI_ERR_BUFFER, "sendbuf and recvbuf are the same memory; MPI_IN_PLACE says so");
}

}  // namespace

int operands_of(const void* send, void* receive, MPI_Count count, const datatype& type,
                const operation& op, collectives::reduction& made) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  made = {.send = send,
          .receive = receive,
          .count = count,
          .type = &type.layout(),
          .in_place = in_place(send)};
  if (const int code = apart(send, receive, count * type.layout().size())) return code;
  return reducer_for(op, type, made.op);
}

const datatypes::layout* collective_steps::layout(datatype& type) {
  if (keep_ && !type.is_predefined()) into_.keep(type.layout());
  return &type.layout();
}

collectives::block collective_steps::one(const void* data, MPI_Count count, datatype& type) {
  return {const_cast<void*>(data), count, layout(type)};
}

collectives::blocks collective_steps::row(const void* data, MPI_Count count, datatype& type) {
  return {.data = const_cast<void*>(data), .type = layout(type), .count = count};
}

void collective_steps::fill(varying& v, const void* data, integers counts, integers places,
                            datatype& type) {
  v.counts = counts.copy(team_.size);
  v.places = places.copy(team_.size);
  v.all = {.data = const_cast<void*>(data),
           .type = layout(type),
           .counts = v.counts.data(),
           .places = v.places.data()};
}

void collective_steps::fill(varying& v, const void* data, integers counts, integers places,
                            const MPI_Datatype* types) {
  v.counts = counts.copy(team_.size);
  v.places = places.copy(team_.size);
  for (int i = 0; i < team_.size; ++i) v.types.push_back(layout(*find<datatype>(types[i])));
  v.all = {.data = const_cast<void*>(data),
           .counts = v.counts.data(),
           .places = v.places.data(),
           .types = v.types.data()};
}

int collective_steps::operands(const void* send, void* receive, MPI_Count count, datatype& type,
                               operation& op, collectives::reduction& made) {
  if (const int code = operands_of(send, receive, count, type, op, made)) return code;
  made.type = layout(type);
  if (keep_ && !op.predefined && !type.is_predefined()) {
    type.add_user();
    into_.when_cleared([](void* held) { static_cast<datatype*>(held)->drop_user(); }, &type);
  }
  return MPI_SUCCESS;
}

int collective_steps::barrier() {
  collectives::barrier(into_, team_);
  return MPI_SUCCESS;
}

int collective_steps::bcast(void* buffer, MPI_Count count, datatype& type, int root) {
  if (in_place(buffer)) return refuse_in_place("buffer");
  collectives::bcast(into_, team_, one(buffer, count, type), root);
  return MPI_SUCCESS;
}

int collective_steps::reduce(const void* send, void* receive, MPI_Count count, datatype& type,
                             operation& op, int root) {
  const bool is_root = team_.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  collectives::reduction r;
  if (const int code = operands(send, is_root ? receive : nullptr, count, type, op, r)) return code;
  collectives::reduce(into_, team_, r, root);
  return MPI_SUCCESS;
}

int collective_steps::allreduce(const void* send, void* receive, MPI_Count count, datatype& type,
                                operation& op) {
  collectives::reduction r;
  if (const int code = operands(send, receive, count, type, op, r)) return code;
  collectives::allreduce(into_, team_, r);
  return MPI_SUCCESS;
}

int collective_steps::scan(const void* send, void* receive, MPI_Count count, datatype& type,
                           operation& op) {
  collectives::reduction r;
  if (const int code = operands(send, receive, count, type, op, r)) return code;
  collectives::scan(into_, team_, r);
  return MPI_SUCCESS;
}

int collective_steps::exscan(const void* send, void* receive, MPI_Count count, datatype& type,
                             operation& op) {
  collectives::reduction r;
  if (const int code = operands(send, receive, count, type, op, r)) return code;
  collectives::exscan(into_, team_, r);
  return MPI_SUCCESS;
}

int collective_steps::reduce_scatter(const void* send, void* receive, integers counts,
                                     datatype& type, operation& op) {
  const auto each = counts.copy(team_.size);
  const auto all = std::accumulate(each.begin(), each.end(), MPI_Count{0});
  collectives::reduction r;
  if (const int code = operands(send, receive, all, type, op, r)) return code;
  collectives::reduce_scatter(into_, team_, r, each.data());
  return MPI_SUCCESS;
}

int collective_steps::reduce_scatter_block(const void* send, void* receive, MPI_Count count,
                                           datatype& type, operation& op) {
  const std::vector<std::int64_t> each(static_cast<std::size_t>(team_.size), count);
  collectives::reduction r;
  if (const int code = operands(send, receive, count * team_.size, type, op, r)) return code;
  collectives::reduce_scatter(into_, team_, r, each.data());
  return MPI_SUCCESS;
}

int collective_steps::gather(const void* send, MPI_Count send_count, datatype& send_type,
                             void* receive, MPI_Count count, datatype& type, int root) {
  const bool is_root = team_.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root) {
    if (const int code = apart(send, receive, count * type.layout().size())) return code;
  }
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : one(send, send_count, send_type);
  const auto all = is_root ? row(receive, count, type) : collectives::blocks{};
  collectives::gather(into_, team_, own_in_place ? nullptr : &mine, all, root);
  return MPI_SUCCESS;
}

int collective_steps::gatherv(const void* send, MPI_Count send_count, datatype& send_type,
                              void* receive, integers counts, integers places, datatype& type,
                              int root) {
  const bool is_root = team_.rank == root;
  if (!is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : one(send, send_count, send_type);
  varying v;
  if (is_root) fill(v, receive, counts, places, type);
  collectives::gatherv(into_, team_, own_in_place ? nullptr : &mine, v.all, root);
  return MPI_SUCCESS;
}

int collective_steps::scatter(const void* send, MPI_Count count, datatype& type, void* receive,
                              MPI_Count receive_count, datatype& receive_type, int root) {
  const bool is_root = team_.rank == root;
  if (!is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root) {
    if (const int code = apart(send, receive, count * type.layout().size())) return code;
  }
  const bool own_in_place = in_place(receive);
  const auto mine = own_in_place ? collectives::block{} : one(receive, receive_count, receive_type);
  const auto all = is_root ? row(send, count, type) : collectives::blocks{};
  collectives::scatter(into_, team_, all, own_in_place ? nullptr : &mine, root);
  return MPI_SUCCESS;
}

int collective_steps::scatterv(const void* send, integers counts, integers places, datatype& type,
                               void* receive, MPI_Count receive_count, datatype& receive_type,
                               int root) {
  const bool is_root = team_.rank == root;
  if (!is_root && in_place(receive)) return refuse_in_place("recvbuf");
  if (is_root && in_place(send)) return refuse_in_place("sendbuf");
  if (is_root && places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(receive);
  const auto mine = own_in_place ? collectives::block{} : one(receive, receive_count, receive_type);
  varying v;
  if (is_root) fill(v, send, counts, places, type);
  collectives::scatterv(into_, team_, v.all, own_in_place ? nullptr : &mine, root);
  return MPI_SUCCESS;
}

int collective_steps::allgather(const void* send, MPI_Count send_count, datatype& send_type,
                                void* receive, MPI_Count count, datatype& type) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (const int code = apart(send, receive, count * type.layout().size())) return code;
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : one(send, send_count, send_type);
  collectives::allgather(into_, team_, own_in_place ? nullptr : &mine, row(receive, count, type));
  return MPI_SUCCESS;
}

int collective_steps::allgatherv(const void* send, MPI_Count send_count, datatype& send_type,
                                 void* receive, integers counts, integers places, datatype& type) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "displs is null");
  const bool own_in_place = in_place(send);
  const auto mine = own_in_place ? collectives::block{} : one(send, send_count, send_type);
  varying v;
  fill(v, receive, counts, places, type);
  collectives::allgather(into_, team_, own_in_place ? nullptr : &mine, v.all);
  return MPI_SUCCESS;
}

int collective_steps::alltoall(const void* send, MPI_Count send_count, datatype& send_type,
                               void* receive, MPI_Count count, datatype& type) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (const int code = apart(send, receive, count * type.layout().size())) return code;
  const bool own_in_place = in_place(send);
  const auto from = own_in_place ? collectives::blocks{} : row(send, send_count, send_type);
  collectives::alltoall(into_, team_, own_in_place ? nullptr : &from, row(receive, count, type));
  return MPI_SUCCESS;
}

int collective_steps::alltoallv(const void* send, integers send_counts, integers send_places,
                                datatype& send_type, void* receive, integers counts,
                                integers places, datatype& type) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  varying from, to;
  fill(to, receive, counts, places, type);
  const bool own_in_place = in_place(send);
  if (!own_in_place) {
    if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
    fill(from, send, send_counts, send_places, send_type);
  }
  collectives::alltoall(into_, team_, own_in_place ? nullptr : &from.all, to.all);
  return MPI_SUCCESS;
}

int collective_steps::alltoallw(const void* send, integers send_counts, integers send_places,
                                const MPI_Datatype* send_types, void* receive, integers counts,
                                integers places, const MPI_Datatype* types) {
  if (in_place(receive)) return refuse_in_place("recvbuf");
  if (places.is_null()) return fail(MPI_ERR_ARG, "rdispls is null");
  varying from, to;
  fill(to, receive, counts, places, types);
  const bool own_in_place = in_place(send);
  if (!own_in_place) {
    if (send_places.is_null()) return fail(MPI_ERR_ARG, "sdispls is null");
    fill(from, send, send_counts, send_places, send_types);
  }
  collectives::alltoall(into_, team_, own_in_place ? nullptr : &from.all, to.all);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
