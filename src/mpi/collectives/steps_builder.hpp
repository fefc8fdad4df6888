#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "collectives/collectives.hpp"
#include "mpi/abi/integers.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

[[nodiscard]] inline bool in_place(const void* buffer) noexcept { return buffer == MPI_IN_PLACE; }
/// Blocks of equal length, one behind the other.
[[nodiscard]] inline collectives::blocks row_of(const void* data, MPI_Count count,
                                                const datatype& type) noexcept {
  return {.data = const_cast<void*>(data), .type = &type.layout(), .count = count};
}
/// Reports that an argument may not be MPI_IN_PLACE.
[[nodiscard]] int refuse_in_place(const char* argument);
/// Whether the data of both buffers begin at the same byte: the most common kind of aliasing, and
/// cheap to detect. Other ranks do not see it, and must be told: steps_builder::refuse_same. Here
/// for two buffers of one count and type.
[[nodiscard]] bool are_same(const void* send, const void* receive, MPI_Count bytes) noexcept;
/// The address at which the data of a buffer begin; 0 if there are none.
[[nodiscard]] inline std::uintptr_t data_begin(const void* buffer, MPI_Count count,
                                               const datatype& type) noexcept {
  if (in_place(buffer) || count == 0 || type.layout().size() == 0) return 0;
  return reinterpret_cast<std::uintptr_t>(buffer) +
         static_cast<std::uintptr_t>(type.layout().true_lb());
}
/// Whether two buffers with these `data_begin`s have a byte in common there.
[[nodiscard]] inline bool begin_together(std::uintptr_t one, std::uintptr_t other) noexcept {
  return one != 0 && one == other;
}
/// The error of a call with such buffers, once its part of the operation has ended.
[[nodiscard]] int fail_same(const communicator& comm);

/// The operands of a reduction, checked. An MPI error code.
[[nodiscard]] int operands_of(const void* send, void* receive, MPI_Count count,
                              const datatype& type, const operation& op,
                              collectives::reduction& made);

/// Converts the arguments of a collective call to operands, and holds the schedule that its steps
/// are appended to.
/// Shape:    with `keep`, types are held until the schedule is cleared, because the program may
///           free them while the operation is under way.
class steps_builder {
 public:
  /// Blocks of different lengths, with the arrays of lengths and offsets.
  struct varying {
    std::vector<std::int64_t> counts, places;
    std::vector<const datatypes::layout*> types;
    collectives::blocks all;
  };

  steps_builder(communicator& on, collectives::schedule& into, bool keep) noexcept
      : comm(on), team(on.team()), steps(into), keep_(keep) {}

  collectives::block one(const void* data, MPI_Count count, datatype& type);
  /// As `row_of`.
  collectives::blocks row(const void* data, MPI_Count count, datatype& type);
  /// `count` blocks: one per rank, or one per neighbour.
  void fill(varying& v, const void* data, integers counts, integers places, datatype& type,
            int count);
  void fill(varying& v, const void* data, integers counts, integers places,
            const MPI_Datatype* types, int count);
  /// Lets the schedule take part with failure messages if buffers with these `data_begin`s begin
  /// together.
  void refuse_same(std::uintptr_t send_begin, std::uintptr_t receive_begin) noexcept {
    if (begin_together(send_begin, receive_begin)) steps.refuse();
  }
  [[nodiscard]] int operands(const void* send, void* receive, MPI_Count count, datatype& type,
                             operation& op, collectives::reduction& made);

  const communicator& comm;
  collectives::team& team;
  collectives::schedule& steps;

 private:
  const datatypes::layout* layout(datatype& type);

  const bool keep_;
};

}  // namespace headway::mpi
