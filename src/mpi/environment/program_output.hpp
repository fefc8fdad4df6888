#pragma once

namespace headway::mpi {

/// Writes what the program has printed and C's streams still hold, because the process ends without
/// `exit`.
/// Threads:  may be called at any time; makes a few threads, which may outlive the call.
/// Progress: waits a second at most. What a reader that stands still does not take by then, or a
///           stream that another thread keeps locked, is lost; other streams are not.
/// Errors:   a process that can make no thread loses what its streams hold.
void flush_program_output() noexcept;

}  // namespace headway::mpi
