#include "mpi/one_sided/window.hpp"

#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/one_sided/epochs.hpp"

namespace headway::mpi {

window::window(communicator& own, const facts& known, std::unique_ptr<windows::window> memory)
    : comm_(own),
      facts_(known),
      memory_(std::move(memory)),
      epochs_(std::make_unique<mpi::epochs>(*memory_, own.collective())) {}

window::~window() = default;

int code_of(windows::status how, const window& on) {
  switch (how) {
    case windows::status::ok:
      return MPI_SUCCESS;
    case windows::status::out_of_range:
      return fail_on(&on, MPI_ERR_RMA_RANGE,
                     "an access was outside of the memory of its target in the window");
    case windows::status::lost:
      break;
  }
  return fail_on(&on, MPI_ERR_PROC_ABORTED, "a process of the window is gone");
}

}  // namespace headway::mpi
