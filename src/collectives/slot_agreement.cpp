#include "collectives/slot_agreement.hpp"

#include <algorithm>
#include <bit>

#include "collectives/agreement.hpp"

namespace headway::collectives {

std::optional<std::uint32_t> agree_on_slot(team& ranks, rails::shm_slots* memory,
                                           std::span<const rails::peer_id> processes) {
  const bool needs_none = processes.size() == 1;
  const bool reserved = !needs_none && memory && memory->try_reserve();
  const bool all_seen = reserved && std::ranges::all_of(processes, [&](rails::peer_id process) {
                          return memory->lines_of(process, 0) != nullptr;
                        });
  const std::uint64_t free = agree(ranks, needs_none ? ~std::uint64_t{0}
                                          : all_seen ? memory->unused()
                                                     : 0);
  const auto slot = static_cast<std::uint32_t>(std::countr_zero(free));
  if (free != 0 && reserved) memory->use(slot);
  if (reserved) memory->end_reservation();
  if (free == 0) return std::nullopt;
  return slot;
}

}  // namespace headway::collectives
