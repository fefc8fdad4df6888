#pragma once

#include <cstdint>

#include "collectives/team.hpp"

namespace headway::collectives {

/// The bits that all ranks have set. Collective, waits. 0 where a message failed: then a rank is
/// lost, and those who were told more wait for it in vain later, as they would elsewhere.
[[nodiscard]] std::uint64_t agree(team& ranks, std::uint64_t mine);

}  // namespace headway::collectives
