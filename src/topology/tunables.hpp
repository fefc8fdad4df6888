#pragma once

#include "base/tunable.hpp"

namespace headway::topology {

extern base::text_tunable topology_description;

}  // namespace headway::topology
