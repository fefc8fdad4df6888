#pragma once

#include <mpi.h>

namespace headway::mpi {

/// Work that belongs to an operation but not to MPI's C interface: of an interface for another
/// language, which is a library of its own.
/// Threads:  one thread at a time, the one that calls MPI for the request.
/// Progress: neither function calls MPI.
class request_attachment {
 public:
  virtual ~request_attachment() = default;
  /// A persistent operation is about to start.
  virtual void before_start() noexcept = 0;
  /// The program learns that the operation is complete. May be called again before the next start
  /// (MPI_Request_get_status).
  virtual void after_end() noexcept = 0;
  /// Whether the program may free the request while the operation is under way. If so, `after_end`
  /// is not called.
  [[nodiscard]] virtual bool may_be_abandoned() const noexcept = 0;
};

}  // namespace headway::mpi

/// Attaches `what` to the operation of `request`, a valid one, whose handle changes. The attachment
/// is deleted with the request. Called before the program sees the request.
/// Shape:    exported by libmpi_abi beside the functions of MPI; another library does not have it.
extern "C" [[gnu::visibility("default")]] void headway_attach_to_request(
    MPI_Request* request, headway::mpi::request_attachment* what);
