#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

class window;

/// The file pointer that the processes of a file share (MPI-5.0 section 14.4.4), in bytes of the
/// view: a number in a window of the first process, which changes it without that process's help.
/// Shape:    made and ended by all processes together.
/// Threads:  any.
/// Progress: `make`, `end` and `set` wait for all processes; the others for the first process's
///           answer, which needs no MPI call there.
/// Errors:   an MPI error code: a process is gone.
class shared_pointer {
 public:
  shared_pointer() noexcept = default;
  shared_pointer(const shared_pointer&) = delete;
  shared_pointer& operator=(const shared_pointer&) = delete;

  [[nodiscard]] int make(communicator& comm);
  [[nodiscard]] int end();
  /// All processes call it; the first one's position counts.
  [[nodiscard]] int set(std::int64_t position);
  /// Where the next access of so many bytes begins; the pointer is behind it then.
  [[nodiscard]] int advance(std::int64_t bytes, std::int64_t& begin);

 private:
  communicator* comm_ = nullptr;
  window* window_ = nullptr;            // null: the only process
  std::atomic<std::int64_t> alone_{0};  // of the only process; relaxed, it carries no data
};

}  // namespace headway::mpi
