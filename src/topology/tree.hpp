#pragma once

#include <vector>

#include "topology/hardware.hpp"
#include "topology/machine.hpp"

namespace headway::topology {

/// The places of a machine: its hardware without the levels that have no siblings.
[[nodiscard]] std::vector<place> places_of(const hardware& from);

}  // namespace headway::topology
