#pragma once

#include <cstdint>

#include "collectives/team.hpp"

namespace headway::collectives {

/// The bits that all ranks have set. Collective, waits. Uses one fixed algorithm, because the
/// choice of other algorithms may depend on the result. 0 if a message failed: then a rank is lost,
/// and the next operation of ranks with another result fails.
[[nodiscard]] std::uint64_t agree(team& ranks, std::uint64_t mine);

}  // namespace headway::collectives
