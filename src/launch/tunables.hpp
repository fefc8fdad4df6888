#pragma once

#include "base/tunable.hpp"

namespace headway::launch {

extern base::number_tunable start_timeout;  ///< HEADWAY_START_TIMEOUT, seconds

}  // namespace headway::launch
