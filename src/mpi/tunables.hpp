#pragma once

#include "base/tunable.hpp"

namespace headway::mpi {

extern base::choice_tunable checks_tunable;

}  // namespace headway::mpi
