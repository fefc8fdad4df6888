#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/one_sided/window.hpp"

namespace headway::mpi {

/// The arguments of a call that makes a window.
struct window_call {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  ///< of MPI_Win_create
  std::int64_t size = 0;
  std::int64_t displacement_unit = 1;
  const info* hints = nullptr;
};

/// Makes a window of all processes of `comm`. Collective; waits. An MPI error code, on error the
/// same in all processes if memory is missing or they do not share any.
[[nodiscard]] int make_window(communicator& comm, const window_call& call, window*& made);
/// Collective; waits until all processes have ended their epochs. An MPI error code.
[[nodiscard]] int free_window(window& freed);

}  // namespace headway::mpi
