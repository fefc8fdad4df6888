#pragma once

#include "files/access.hpp"
#include "mpi/files/file.hpp"

namespace headway::mpi {

/// Whether `write_exchanged` is used, and for which part of the file.
struct exchange_choice {
  bool exchanges = false;
  std::int64_t begin = 0, end = 0;  ///< of all processes' data, offsets in the file
};
/// It is used if the pieces of all processes are small and lie between each other's: then writing
/// them one by one is slower. Collective; waits. An MPI error code: a process is gone.
[[nodiscard]] int choose_exchange(const files::access& mine, file& fh, exchange_choice& made);

/// Two-phase writing (after Thakur et al., "Data sieving and collective I/O in ROMIO", 1999): each
/// process has a part of [begin, end) of the file, gets all pieces in it from the others, and
/// writes it in blocks of 1 MiB. A block with gaps between the pieces is read first; in a file that
/// was opened for writing alone its pieces are written one by one.
/// Shape:    the view must not decrease from one filetype to the next.
/// Progress: waits for all processes.
/// Errors:   an MPI error code: a process is gone; MPI_ERR_NO_MEM, after which the other processes
///           wait for ever. `how`: of the file, the same on all.
[[nodiscard]] int write_exchanged(const files::access& mine, file& fh, const exchange_choice& where,
                                  files::moved& how);

}  // namespace headway::mpi
