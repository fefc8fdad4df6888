#include "mpi/tunables.hpp"

namespace headway::mpi {

base::choice_tunable checks_tunable(
    "HEADWAY_CHECKS", {"off", "on"}, "on",
    "whether MPI calls look at their arguments; off saves a few nanoseconds a call, and a wrong "
    "argument then does whatever it does");

}  // namespace headway::mpi
