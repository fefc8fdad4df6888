#pragma once

#include <cstdint>

#include "collectives/team.hpp"

namespace headway::collectives {

/// The bits that all ranks have set. Collective, waits. It is done by one fixed algorithm, because
/// what is agreed on may decide the choice of others. 0 where a message failed: then a rank is
/// lost, and the next operation of the ranks that got another answer fails.
[[nodiscard]] std::uint64_t agree(team& ranks, std::uint64_t mine);

}  // namespace headway::collectives
