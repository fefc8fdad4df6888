// The user's settings of the MPI calls themselves.
#include "base/tunable.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

base::choice_tunable checks(
    "HEADWAY_CHECKS", {"off", "on"}, "on",
    "whether MPI calls look at their arguments; off saves a few nanoseconds a call, and a wrong "
    "argument then does whatever it does");

}  // namespace

settings settings::from_environment() {
  return {.check_arguments = checks.index() == 1, .report = report::settings::from_environment()};
}

}  // namespace headway::mpi
