#pragma once

#include <mpi.h>

namespace headway::mpi {

/// Work on each partition of a partitioned operation that does not belong to MPI's C interface: of
/// an interface for another language, which is a library of its own.
/// Threads:  `before_send` and `after_arrival` any, for different partitions at once.
/// Progress: no function calls MPI.
class partition_attachment {
 public:
  virtual ~partition_attachment() = default;
  /// A receive is about to start.
  virtual void before_start() noexcept = 0;
  /// The program has marked the partition as ready, and it is about to be read.
  virtual void before_send(int partition) noexcept = 0;
  /// The partition is in the receive buffer. The program does not know yet.
  virtual void after_arrival(int partition) noexcept = 0;
};

}  // namespace headway::mpi

/// Attaches `what` to the request of MPI_Psend_init or MPI_Precv_init, with which it is deleted.
/// Called before the program sees the request.
/// Shape:    exported by libmpi_abi beside the functions of MPI; another library does not have it.
extern "C" [[gnu::visibility("default")]] void headway_attach_to_partitions(
    MPI_Request request, headway::mpi::partition_attachment* what);
