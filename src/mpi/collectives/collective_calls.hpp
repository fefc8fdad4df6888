#pragma once

#include <mpi.h>

#include <optional>

#include "collectives/recent_schedules.hpp"
#include "mpi/abi/integers.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 chapter 6: the collective operations. Struct xxx has the arguments of MPI_Xxx, MPI_Ixxx
/// and MPI_Xxx_init, in their order and without the communicator. api/generate.py reads this file
/// and generates the entry points of all three forms, which call `run_collective`,
/// `start_collective` and `prepare_collective` (collective_request.hpp).
///
/// Every struct has
///   static constexpr collectives::collective kind;
///   int append(steps_builder& b) const;   appends the steps; an MPI error code
///   int append_inter(steps_builder& b) const;   the same for an inter-communicator, on which those
///       without it are refused
/// Those whose schedules can be cached have
///   std::optional<collectives::call_key> key() const;   nothing: not with these arguments
/// Those that, when blocking, may need no schedule have
///   std::optional<int> run_in_slots(communicator& comm) const;   an MPI error code; nothing: a
///       schedule is needed
///   bool run_in_lines(communicator& comm) const;   true: it has ended; false: the same
/// Those in which ranks wait for others of the communicator, whatever its topology, have
///   static constexpr report::dependence waits;
/// The entry points have checked handles, counts and roots; buffers may be MPI_IN_PLACE wherever
/// the program passes it.
namespace headway::mpi::calls {

using collectives::call_key;

struct barrier {
  static constexpr auto kind = collectives::collective::barrier;
  static constexpr auto waits = report::dependence::on_all;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
  [[nodiscard]] std::optional<int> run_in_slots(communicator& comm) const;
};

struct bcast {
  static constexpr auto kind = collectives::collective::bcast;
  static constexpr auto waits = report::dependence::on_root;
  void* buffer;
  MPI_Count count;
  datatype& type;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct reduce {
  static constexpr auto kind = collectives::collective::reduce;
  static constexpr auto waits = report::dependence::root_alone;
  const void* send;
  void* receive;
  MPI_Count count;
  datatype& type;
  operation& op;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct allreduce {
  static constexpr auto kind = collectives::collective::allreduce;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  void* receive;
  MPI_Count count;
  datatype& type;
  operation& op;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
  [[nodiscard]] std::optional<int> run_in_slots(communicator& comm) const;
};

struct scan {
  static constexpr auto kind = collectives::collective::scan;
  static constexpr auto waits = report::dependence::on_lower;
  const void* send;
  void* receive;
  MPI_Count count;
  datatype& type;
  operation& op;
  int append(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct exscan {
  static constexpr auto kind = collectives::collective::exscan;
  static constexpr auto waits = report::dependence::on_lower;
  const void* send;
  void* receive;
  MPI_Count count;
  datatype& type;
  operation& op;
  int append(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct reduce_scatter {
  static constexpr auto kind = collectives::collective::reduce_scatter;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  void* receive;
  integers counts;
  datatype& type;
  operation& op;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

struct reduce_scatter_block {
  static constexpr auto kind = collectives::collective::reduce_scatter_block;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  void* receive;
  MPI_Count count;
  datatype& type;
  operation& op;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct gather {
  static constexpr auto kind = collectives::collective::gather;
  static constexpr auto waits = report::dependence::root_alone;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  MPI_Count count;
  datatype& type;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct gatherv {
  static constexpr auto kind = collectives::collective::gatherv;
  static constexpr auto waits = report::dependence::root_alone;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  integers counts;
  integers places;
  datatype& type;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

struct scatter {
  static constexpr auto kind = collectives::collective::scatter;
  static constexpr auto waits = report::dependence::on_root;
  const void* send;
  MPI_Count count;
  datatype& type;
  void* receive;
  MPI_Count receive_count;
  datatype& receive_type;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct scatterv {
  static constexpr auto kind = collectives::collective::scatterv;
  static constexpr auto waits = report::dependence::on_root;
  const void* send;
  integers counts;
  integers places;
  datatype& type;
  void* receive;
  MPI_Count receive_count;
  datatype& receive_type;
  int root;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

struct allgather {
  static constexpr auto kind = collectives::collective::allgather;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  MPI_Count count;
  datatype& type;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct allgatherv {
  static constexpr auto kind = collectives::collective::allgatherv;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  integers counts;
  integers places;
  datatype& type;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

struct alltoall {
  static constexpr auto kind = collectives::collective::alltoall;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  MPI_Count send_count;
  datatype& send_type;
  void* receive;
  MPI_Count count;
  datatype& type;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
  [[nodiscard]] std::optional<call_key> key() const noexcept;
};

struct alltoallv {
  static constexpr auto kind = collectives::collective::alltoallv;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  integers send_counts;
  integers send_places;
  datatype& send_type;
  void* receive;
  integers counts;
  integers places;
  datatype& type;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

struct alltoallw {
  static constexpr auto kind = collectives::collective::alltoallw;
  static constexpr auto waits = report::dependence::on_all;
  const void* send;
  integers send_counts;
  integers send_places;
  const MPI_Datatype* send_types;
  void* receive;
  integers counts;
  integers places;
  const MPI_Datatype* types;
  int append(steps_builder& b) const;
  int append_inter(steps_builder& b) const;
};

}  // namespace headway::mpi::calls
