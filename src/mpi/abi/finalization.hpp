#pragma once

namespace headway::mpi {

/// For MPI_Finalize: waits for requests that were freed while under way (MPI_Request_free) and for
/// buffered sends.
void finish_operations() noexcept;

}  // namespace headway::mpi
