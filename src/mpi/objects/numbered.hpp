#pragma once

#include <atomic>
#include <cstddef>

namespace headway::mpi {
class object;
/// How many objects `headway_numbered` has.
constexpr std::size_t numbered_count = 4096;
}  // namespace headway::mpi

/// The objects that were numbered first, in the order of their numbers: number n belongs to the
/// object in (n - predefined_end) / object_alignment, whose handle is its address plus
/// n % object_alignment. Null: no object. MPI_X_fromint without a call, and without its check.
/// Shape:    exported by libmpi_abi beside the functions of MPI; another library does not have it.
/// Threads:  any; the number that a thread knows orders its load.
extern "C" [[gnu::visibility("default")]] std::atomic<headway::mpi::object*>
    headway_numbered[headway::mpi::numbered_count];
