#pragma once

#include <mpi.h>

#include "mpi/environment/library.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

// What MPI_Wait, MPI_Test and MPI_Request_free do with one request. Threads: see `request`.

/// Waits until `r` is complete.
void wait_for(request& r) noexcept;
/// Polls once while `wanted()` holds, and a few times more as long as a round moved something: a
/// rendezvous takes several rounds, and with one round a test it would advance by one step only.
template <class Wanted>
void poll_while(Wanted&& wanted) noexcept {
  constexpr int rounds_max = 8;
  for (int i = 0; i < rounds_max && wanted(); ++i) {
    if (!engine().poll()) return;
  }
}
/// Whether it is complete. Polls if it is not.
[[nodiscard]] bool test_for(request& r) noexcept;
/// `r` is complete: fills the status and either frees it (the handle becomes null) or makes it
/// inactive. Returns the operation's error code.
[[nodiscard]] int conclude(request*& r, MPI_Status* status);
/// MPI_Request_free: an operation under way goes on, and the request is freed some time after it.
void abandon(request& r);

}  // namespace headway::mpi
