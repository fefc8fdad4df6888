#pragma once

#include "files/access.hpp"
#include "mpi/files/file.hpp"

namespace headway::mpi {

/// Whether a collective write of all processes consists of small pieces that lie between each
/// other's: then `write_exchanged` is quicker than writing them one by one. Collective; waits.
struct exchange_choice {
  bool exchanges = false;
  std::int64_t begin = 0, end = 0;  ///< of all processes' data, offsets in the file
};
/// An MPI error code.
[[nodiscard]] int choose_exchange(const files::access& mine, file& fh, exchange_choice& made);

/// Two-phase writing (after Thakur et al., "Data sieving and collective I/O in ROMIO", 1999): each
/// process has a part of [begin, end) of the file, gets all pieces in it from the others, and
/// writes it in blocks of some MiB. What lies between the pieces is read first.
/// Shape:    the view must not decrease from one filetype to the next.
/// Progress: waits for all processes.
/// Errors:   an MPI error code: a process is gone. `how`: of the file, the same on all.
[[nodiscard]] int write_exchanged(const files::access& mine, file& fh, const exchange_choice& where,
                                  files::moved& how);

}  // namespace headway::mpi
