#pragma once

#include <string>

#include "mpi/communicators/communicator.hpp"
#include "mpi/files/file.hpp"
#include "mpi/objects/info.hpp"

namespace headway::mpi {

/// Opens a file in all processes of `comm`, with the view of bytes. Collective; waits. An MPI error
/// code: if it cannot be opened in one process, it is open in none, and all have the error.
[[nodiscard]] int open_file(communicator& comm, const char* filename, int amode, const info* hints,
                            file*& made);
/// Collective; waits. An MPI error code, the same on all: what the kernel reports of earlier writes
/// on any process, or of the deletion. The file is closed in either case, unless a process is gone.
[[nodiscard]] int close_file(file& closed);
/// The path that a program's name of a file means: without the prefix by which some libraries
/// choose a kind of file system ("ufs:").
[[nodiscard]] std::string path_of(const char* filename);

}  // namespace headway::mpi
