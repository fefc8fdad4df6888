#pragma once

#include <mpi.h>

#include "mpi/communicators/group.hpp"
#include "mpi/one_sided/window.hpp"

/// MPI-5.0 section 12.5: epochs. Handles are good; ranks, assertions and the order of calls are
/// checked here. Of the assertions MPI_MODE_NOCHECK, NOPRECEDE and NOSUCCEED have an effect.
namespace headway::mpi::calls {

int win_fence(int assert, window& win);
int win_start(group& targets, int assert, window& win);
int win_complete(window& win);
int win_post(group& origins, int assert, window& win);
int win_wait(window& win);
int win_test(window& win, int& flag);
int win_lock(int lock_type, int rank, int assert, window& win);
int win_lock_all(int assert, window& win);
int win_unlock(int rank, window& win);
int win_unlock_all(window& win);
int win_flush(int rank, window& win);
int win_flush_all(window& win);
int win_flush_local(int rank, window& win);
int win_flush_local_all(window& win);
int win_sync(window& win);

}  // namespace headway::mpi::calls
