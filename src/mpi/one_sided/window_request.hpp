#pragma once

#include <mpi.h>

#include "mpi/one_sided/window.hpp"
#include "mpi/point_to_point/request.hpp"
#include "windows/pending_operation.hpp"

namespace headway::mpi {

/// The request of MPI_Rput, MPI_Rget, MPI_Raccumulate and MPI_Rget_accumulate: complete when the
/// operation has ended at the origin.
/// Threads:  see `request`.
class window_request final : public request {
 public:
  /// `left` null: it has ended.
  window_request(window& on, windows::pending_ptr left) noexcept;
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  window& on_;
  const windows::pending_ptr left_;
};

}  // namespace headway::mpi
