#pragma once

#include <mpi.h>

#include <optional>

#include "collectives/recent_schedules.hpp"
#include "mpi/abi/integers.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 section 8.6: neighbourhood collectives. Structs of arguments, from which api/generate.py
/// makes the entry points as from those of collective_calls.hpp.
namespace headway::mpi::calls {

struct neighbor_allgather {
  static constexpr auto kind = collectives::collective::neighbor_allgather;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  MPI_Count count;
  datatype& type;
  int append(steps_builder& b) const;
  [[nodiscard]] std::optional<collectives::call_key> key() const noexcept;
  /// See neighbors.hpp. True: it has ended.
  [[nodiscard]] bool run_in_lines(communicator& comm) const;
};

struct neighbor_allgatherv {
  static constexpr auto kind = collectives::collective::neighbor_allgatherv;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  integers counts;
  integers places;
  datatype& type;
  int append(steps_builder& b) const;
};

struct neighbor_alltoall {
  static constexpr auto kind = collectives::collective::neighbor_alltoall;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  MPI_Count count;
  datatype& type;
  int append(steps_builder& b) const;
  [[nodiscard]] std::optional<collectives::call_key> key() const noexcept;
  /// See neighbors.hpp. True: it has ended.
  [[nodiscard]] bool run_in_lines(communicator& comm) const;
};

struct neighbor_alltoallv {
  static constexpr auto kind = collectives::collective::neighbor_alltoallv;
  const void* send;
  integers send_counts;
  integers send_places;
  datatype& send_type;
  void* receive;
  integers counts;
  integers places;
  datatype& type;
  int append(steps_builder& b) const;
};

/// Displacements are in bytes, in both forms.
struct neighbor_alltoallw {
  static constexpr auto kind = collectives::collective::neighbor_alltoallw;
  const void* send;
  integers send_counts;
  const MPI_Aint* send_places;
  const MPI_Datatype* send_types;
  void* receive;
  integers counts;
  const MPI_Aint* places;
  const MPI_Datatype* types;
  int append(steps_builder& b) const;
};

}  // namespace headway::mpi::calls
