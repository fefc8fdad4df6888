#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "collectives/team.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Agrees with the other ranks on a slot, which this team has from now on. Collective, waits;
/// nothing, on all ranks alike, if no slot is free, or one rank cannot access another's memory.
/// `processes`: those with which this one shares memory, itself included; one that is alone needs
/// no slot. `memory` null: this process has no slots.
[[nodiscard]] std::optional<std::uint32_t> agree_on_slot(team& ranks, rails::shm_slots* memory,
                                                         std::span<const rails::peer_id> processes);

}  // namespace headway::collectives
