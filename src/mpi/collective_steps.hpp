#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/collectives.hpp"
#include "mpi/communicator.hpp"
#include "mpi/datatype.hpp"
#include "mpi/integers.hpp"
#include "mpi/operation.hpp"

namespace headway::mpi {

/// The operands of a reduction, checked. An MPI error code.
[[nodiscard]] int operands_of(const void* send, void* receive, MPI_Count count,
                              const datatype& type, const operation& op,
                              collectives::reduction& made);

/// Turns the arguments of a collective call into the steps of a schedule: what the blocking, the
/// non-blocking and the persistent form of each collective have in common.
/// Shape:    with `keep`, types are held until the schedule is cleared, because the program may
///           free them while the operation is under way.
/// Errors:   each function returns an MPI error code and then leaves the schedule unusable.
class collective_steps {
 public:
  collective_steps(communicator& comm, collectives::schedule& into, bool keep) noexcept
      : team_(comm.team()), into_(into), keep_(keep) {}

  int barrier();
  int bcast(void* buffer, MPI_Count count, datatype& type, int root);
  int reduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
             int root);
  int allreduce(const void* send, void* receive, MPI_Count count, datatype& type, operation& op);
  int scan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op);
  int exscan(const void* send, void* receive, MPI_Count count, datatype& type, operation& op);
  int reduce_scatter(const void* send, void* receive, integers counts, datatype& type,
                     operation& op);
  int reduce_scatter_block(const void* send, void* receive, MPI_Count count, datatype& type,
                           operation& op);

  int gather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
             MPI_Count count, datatype& type, int root);
  int gatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
              integers counts, integers places, datatype& type, int root);
  int scatter(const void* send, MPI_Count count, datatype& type, void* receive,
              MPI_Count receive_count, datatype& receive_type, int root);
  int scatterv(const void* send, integers counts, integers places, datatype& type, void* receive,
               MPI_Count receive_count, datatype& receive_type, int root);
  int allgather(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                MPI_Count count, datatype& type);
  int allgatherv(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
                 integers counts, integers places, datatype& type);
  int alltoall(const void* send, MPI_Count send_count, datatype& send_type, void* receive,
               MPI_Count count, datatype& type);
  int alltoallv(const void* send, integers send_counts, integers send_places, datatype& send_type,
                void* receive, integers counts, integers places, datatype& type);
  int alltoallw(const void* send, integers send_counts, integers send_places,
                const MPI_Datatype* send_types, void* receive, integers counts, integers places,
                const MPI_Datatype* types);

 private:
  /// A block per rank, with the arrays that it refers to.
  struct varying {
    std::vector<std::int64_t> counts, places;
    std::vector<const datatypes::layout*> types;
    collectives::blocks all;
  };

  const datatypes::layout* layout(datatype& type);
  collectives::block one(const void* data, MPI_Count count, datatype& type);
  collectives::blocks row(const void* data, MPI_Count count, datatype& type);
  void fill(varying& v, const void* data, integers counts, integers places, datatype& type);
  void fill(varying& v, const void* data, integers counts, integers places,
            const MPI_Datatype* types);
  int operands(const void* send, void* receive, MPI_Count count, datatype& type, operation& op,
               collectives::reduction& made);

  collectives::team& team_;
  collectives::schedule& into_;
  bool keep_;
};

}  // namespace headway::mpi
