#include "mpi/meaning_collectives.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "mpi/collective_request.hpp"
#include "mpi/failure.hpp"
#include "mpi/pool.hpp"
#include "mpi/reduction_operator.hpp"

namespace headway::mpi::meaning {
namespace {

using kind = collectives::collective;

/// Small, and of types and operations that nobody can free.
bool is_kept(MPI_Count count, const datatype& type, const operation* op) noexcept {
  return type.is_predefined() && (op == nullptr || op->is_predefined()) &&
         count <= recent_collectives::bytes_max / std::max<MPI_Count>(type.layout().size(), 1);
}

/// The value of a reduction that fits on a board, in a form that is the same bytes on all ranks.
bool is_showable(MPI_Count count, const datatype& type, const operation& op) noexcept {
  const auto& layout = type.layout();
  return op.predefined && type.is_predefined() && layout.is_contiguous() &&
         count * layout.size() <= std::int64_t{collectives::notice_board::value_bytes_max};
}

int show(collectives::notice_board& board, std::span<const std::byte> mine, communicator& comm) {
  const auto how = board.meet(mine);
  if (how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return code_of(how, board.failed_rank(), comm);
}

/// Everybody combines all values, in the order of ranks.
int allreduce_on(collectives::notice_board& board, const collectives::reduction& r,
                 communicator& comm) {
  const auto bytes = static_cast<std::size_t>(r.bytes());
  if (const int code = show(board, {static_cast<const std::byte*>(r.input()), bytes}, comm))
    return code;
  alignas(16) std::byte sum[collectives::notice_board::value_bytes_max];
  std::memcpy(sum, board.value_of(0), bytes);
  for (int rank = 1; rank < comm.size(); ++rank)
    r.op.apply(r.op, board.value_of(rank), sum, r.count);
  std::memcpy(r.receive, sum, bytes);
  return MPI_SUCCESS;
}

}  // namespace

int barrier(communicator& comm) {
  if (auto* board = comm.board()) return show(*board, {}, comm);
  return run_recent_collective(comm, {.what = kind::barrier},
                               [&](collective_steps& s) { return s.barrier(); });
}

int bcast(void* buffer, MPI_Count count, datatype& type, int root, communicator& comm) {
  const auto add = [&](collective_steps& s) { return s.bcast(buffer, count, type, root); };
  if (!is_kept(count, type, nullptr)) return run_collective(comm, add);
  return run_recent_collective(comm,
                               {.what = kind::bcast,
                                .root = root,
                                .receive = buffer,
                                .count = count,
                                .type = handle_of(&type)},
                               add);
}

int reduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
           int root, communicator& comm) {
  const auto add = [&](collective_steps& s) {
    return s.reduce(send, receive, count, type, op, root);
  };
  if (!is_kept(count, type, &op)) return run_collective(comm, add);
  return run_recent_collective(comm,
                               {.what = kind::reduce,
                                .root = root,
                                .send = send,
                                .receive = receive,
                                .count = count,
                                .type = handle_of(&type),
                                .op = handle_of(&op)},
                               add);
}

int allreduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
              communicator& comm) {
  if (auto* board = comm.board(); board && is_showable(count, type, op)) {
    collectives::reduction r;
    if (const int code = operands_of(send, receive, count, type, op, r)) return code;
    return allreduce_on(*board, r, comm);
  }
  const auto add = [&](collective_steps& s) { return s.allreduce(send, receive, count, type, op); };
  if (!is_kept(count, type, &op)) return run_collective(comm, add);
  return run_recent_collective(comm,
                               {.what = kind::allreduce,
                                .send = send,
                                .receive = receive,
                                .count = count,
                                .type = handle_of(&type),
                                .op = handle_of(&op)},
                               add);
}

int scan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
         communicator& comm) {
  return run_collective(
      comm, [&](collective_steps& s) { return s.scan(send, receive, count, type, op); });
}

int exscan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
           communicator& comm) {
  return run_collective(
      comm, [&](collective_steps& s) { return s.exscan(send, receive, count, type, op); });
}

int reduce_scatter(const void* send, void* receive, integers counts, datatype& type, operation& op,
                   communicator& comm) {
  return run_collective(
      comm, [&](collective_steps& s) { return s.reduce_scatter(send, receive, counts, type, op); });
}

int reduce_scatter_block(const void* send, void* receive, MPI_Count count, datatype& type,
                         operation& op, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.reduce_scatter_block(send, receive, count, type, op);
  });
}

int gather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
           MPI_Count count, datatype& type, int root, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.gather(send, send_count, send_type, receive, count, type, root);
  });
}

int gatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
            integers counts, integers places, datatype& type, int root, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.gatherv(send, send_count, send_type, receive, counts, places, type, root);
  });
}

int scatter(const void* send, MPI_Count count, datatype& type, void* receive,
            MPI_Count receive_count, datatype& receive_type, int root, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.scatter(send, count, type, receive, receive_count, receive_type, root);
  });
}

int scatterv(const void* send, integers counts, integers places, datatype& type, void* receive,
             MPI_Count receive_count, datatype& receive_type, int root, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.scatterv(send, counts, places, type, receive, receive_count, receive_type, root);
  });
}

int allgather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
              MPI_Count count, datatype& type, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.allgather(send, send_count, send_type, receive, count, type);
  });
}

int allgatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
               integers counts, integers places, datatype& type, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.allgatherv(send, send_count, send_type, receive, counts, places, type);
  });
}

int alltoall(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
             MPI_Count count, datatype& type, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.alltoall(send, send_count, send_type, receive, count, type);
  });
}

int alltoallv(const void* send, integers send_counts, integers send_places, datatype& send_type,
              void* receive, integers counts, integers places, datatype& type, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.alltoallv(send, send_counts, send_places, send_type, receive, counts, places, type);
  });
}

int alltoallw(const void* send, integers send_counts, integers send_places,
              const MPI_Datatype* send_types, void* receive, integers counts, integers places,
              const MPI_Datatype* types, communicator& comm) {
  return run_collective(comm, [&](collective_steps& s) {
    return s.alltoallw(send, send_counts, send_places, send_types, receive, counts, places, types);
  });
}

int reduce_local(const void* in, void* inout, MPI_Count count, datatype& type, operation& op) {
  if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE) {
    return fail(MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
  }
  collectives::reducer reducer;
  if (const int code = reducer_for(op, type, reducer)) return code;
  if (count > 0) reducer.apply(reducer, in, inout, count);
  return MPI_SUCCESS;
}

int op_create(MPI_User_function* function, int commute, operation*& made) {
  if (function == nullptr) return fail(MPI_ERR_ARG, "user_fn is null");
  made = pool<operation>::all().make(function, commute != 0);
  return MPI_SUCCESS;
}

int op_create_c(MPI_User_function_c* function, int commute, operation*& made) {
  if (function == nullptr) return fail(MPI_ERR_ARG, "user_fn is null");
  made = pool<operation>::all().make(function, commute != 0);
  return MPI_SUCCESS;
}

int op_free(operation*& op) {
  if (op->is_predefined()) return fail(MPI_ERR_OP, "{} cannot be freed", op->name);
  pool<operation>::all().drop(op);
  op = nullptr;
  return MPI_SUCCESS;
}

int op_commutative(operation& op, int& commute) {
  commute = op.commutative;
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::meaning
