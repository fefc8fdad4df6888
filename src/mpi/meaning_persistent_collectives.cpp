#include "mpi/meaning_persistent_collectives.hpp"

#include "mpi/collective_request.hpp"

namespace headway::mpi::meaning {

int barrier_init(communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) { return s.barrier(); });
}

int bcast_init(void* buffer, MPI_Count count, datatype& type, int root, communicator& comm, info*,
               request*& r) {
  return prepare_collective(
      comm, r, [&](collective_steps& s) { return s.bcast(buffer, count, type, root); });
}

int reduce_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                int root, communicator& comm, info*, request*& r) {
  return prepare_collective(
      comm, r, [&](collective_steps& s) { return s.reduce(send, receive, count, type, op, root); });
}

int allreduce_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                   communicator& comm, info*, request*& r) {
  return prepare_collective(
      comm, r, [&](collective_steps& s) { return s.allreduce(send, receive, count, type, op); });
}

int scan_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
              communicator& comm, info*, request*& r) {
  return prepare_collective(
      comm, r, [&](collective_steps& s) { return s.scan(send, receive, count, type, op); });
}

int exscan_init(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
                communicator& comm, info*, request*& r) {
  return prepare_collective(
      comm, r, [&](collective_steps& s) { return s.exscan(send, receive, count, type, op); });
}

int reduce_scatter_init(const void* send, void* receive, integers counts, datatype& type,
                        operation& op, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.reduce_scatter(send, receive, counts, type, op);
  });
}

int reduce_scatter_block_init(const void* send, void* receive, MPI_Count count, datatype& type,
                              operation& op, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.reduce_scatter_block(send, receive, count, type, op);
  });
}

int gather_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                MPI_Count count, datatype& type, int root, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.gather(send, send_count, send_type, receive, count, type, root);
  });
}

int gatherv_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                 integers counts, integers places, datatype& type, int root, communicator& comm,
                 info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.gatherv(send, send_count, send_type, receive, counts, places, type, root);
  });
}

int scatter_init(const void* send, MPI_Count count, datatype& type, void* receive,
                 MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
                 info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.scatter(send, count, type, receive, receive_count, receive_type, root);
  });
}

int scatterv_init(const void* send, integers counts, integers places, datatype& type, void* receive,
                  MPI_Count receive_count, datatype& receive_type, int root, communicator& comm,
                  info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.scatterv(send, counts, places, type, receive, receive_count, receive_type, root);
  });
}

int allgather_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                   MPI_Count count, datatype& type, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.allgather(send, send_count, send_type, receive, count, type);
  });
}

int allgatherv_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                    integers counts, integers places, datatype& type, communicator& comm, info*,
                    request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.allgatherv(send, send_count, send_type, receive, counts, places, type);
  });
}

int alltoall_init(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                  MPI_Count count, datatype& type, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.alltoall(send, send_count, send_type, receive, count, type);
  });
}

int alltoallv_init(const void* send, integers send_counts, integers send_places,
                   datatype& send_type, void* receive, integers counts, integers places,
                   datatype& type, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.alltoallv(send, send_counts, send_places, send_type, receive, counts, places, type);
  });
}

int alltoallw_init(const void* send, integers send_counts, integers send_places,
                   const MPI_Datatype* send_types, void* receive, integers counts, integers places,
                   const MPI_Datatype* types, communicator& comm, info*, request*& r) {
  return prepare_collective(comm, r, [&](collective_steps& s) {
    return s.alltoallw(send, send_counts, send_places, send_types, receive, counts, places, types);
  });
}

}  // namespace headway::mpi::meaning
