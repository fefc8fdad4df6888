#pragma once

#include <mpi.h>

#include <memory>

#include "files/access.hpp"
#include "files/helper_threads.hpp"
#include "mpi/files/file.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

/// The request of a non-blocking access to a file, and of a split collective one.
/// Shape:    keeps the descriptor, the view and the memory's layout, all of which the program may
///           give up meanwhile.
/// Threads:  see `request`; a helper thread carries it out.
/// Progress: the helper thread's: no call is needed.
class file_request final : public request, private files::job {
 public:
  file_request(file& on, const files::access& what);
  /// One that has ended already.
  file_request(file& on, const files::access& what, const files::moved& how);

  /// Gives it to a helper thread.
  void begin();
  int finish(MPI_Status& status) override;
  void release() noexcept override;

 private:
  void run() noexcept override;

  file& on_;
  files::access what_;
  std::shared_ptr<files::open_file> descriptor_;
  files::view view_;
  files::moved how_;
  progress::completion done_;
};

/// Ends the helper threads, when all accesses have ended. Called when the library stops.
void end_file_helpers() noexcept;

/// Carries out an access, in this thread.
[[nodiscard]] files::moved carry_out(const files::access& what, file& on);
/// The MPI error code of an access that has ended.
[[nodiscard]] int code_of(const files::access& what, const files::moved& how, const file& on);

}  // namespace headway::mpi
