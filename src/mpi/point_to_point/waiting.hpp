#pragma once

#include <mpi.h>

#include "mpi/environment/library.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

// The parts of MPI_Wait, MPI_Test and MPI_Request_free for one request. Threads: see `request`.

/// Waits until `r` is complete.
void wait_for(request& r) noexcept;
/// Polls while `wanted()` holds: once, and a few times more as long as a round advances something.
/// With one round for each test, a rendezvous, which needs several, would be slow.
template <class Wanted>
void poll_while(Wanted&& wanted) noexcept {
  constexpr int rounds_max = 8;
  for (int i = 0; i < rounds_max && wanted(); ++i) {
    if (!engine().poll()) return;
  }
}
/// Whether `r` is complete. Polls if it is not.
[[nodiscard]] bool test_for(request& r) noexcept;
/// Ends a complete, active request: fills the status, and frees the request (`r` becomes null) or,
/// if it is persistent, makes it inactive. Returns the operation's error code.
[[nodiscard]] int conclude(request*& r, MPI_Status* status);
/// MPI_Request_free: an operation under way continues; the request is freed some time after its
/// end.
void abandon(request& r);

}  // namespace headway::mpi
