#pragma once

namespace headway::mpi {

/// MPI_Finalize: sends that the program gave up (MPI_Request_free) or left in a buffer end first.
void finish_operations() noexcept;

}  // namespace headway::mpi
