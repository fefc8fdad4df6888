#pragma once

#include <mpi.h>

#include "mpi/library.hpp"
#include "mpi/request.hpp"

namespace headway::mpi {

/// What MPI_Wait, MPI_Test and MPI_Request_free do to one request, for their many forms.
/// Threads: see `request`.

/// Waits until `r` is complete.
void wait_for(request& r) noexcept;
/// A round of polling, and a few more while they move something and `wanted` says so: a rendezvous
/// takes several, and each test of the program would otherwise bring it one step further only.
template <class Wanted>
void poll_while(Wanted&& wanted) noexcept {
  constexpr int rounds_max = 8;
  for (int i = 0; i < rounds_max && wanted(); ++i) {
    if (!engine().poll()) return;
  }
}
/// Complete now? Polls if not.
[[nodiscard]] bool test_for(request& r) noexcept;
/// `r` is complete: fills the status and either frees it (the handle becomes null) or makes it
/// inactive. Returns the operation's error code.
[[nodiscard]] int conclude(request*& r, MPI_Status* status);
/// MPI_Request_free: an operation under way goes on, and its memory is given back some time later.
void abandon(request& r);

}  // namespace headway::mpi
