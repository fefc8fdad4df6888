#pragma once

#include "base/tunable.hpp"

namespace headway::collectives {

/// Overrides the table of algorithms, for measurements.
extern base::text_tunable forced_algorithms;

}  // namespace headway::collectives
