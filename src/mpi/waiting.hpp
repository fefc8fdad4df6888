#pragma once

#include <mpi.h>

#include "mpi/request.hpp"

namespace headway::mpi {

/// What MPI_Wait, MPI_Test and MPI_Request_free do to one request, for their many forms.
/// Threads: see `request`.

/// Waits until `r` is complete.
void wait_for(request& r) noexcept;
/// Complete now? Polls once if not.
[[nodiscard]] bool test_for(request& r) noexcept;
/// `r` is complete: fills the status and either frees it (the handle becomes null) or makes it
/// inactive. Returns the operation's error code.
[[nodiscard]] int conclude(request*& r, MPI_Status* status);
/// MPI_Request_free: an operation under way goes on, and its memory is given back some time later.
void abandon(request& r);

}  // namespace headway::mpi
