#pragma once

#include "base/tunable.hpp"

namespace headway::sampling {

extern base::number_tunable profile_days_max;

}  // namespace headway::sampling
