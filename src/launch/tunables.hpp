#pragma once

#include "base/tunable.hpp"

namespace headway::launch {

extern base::number_tunable start_timeout;  ///< HEADWAY_START_TIMEOUT, seconds
extern base::text_tunable rendezvous;
extern base::number_tunable rendezvous_processes;

}  // namespace headway::launch
