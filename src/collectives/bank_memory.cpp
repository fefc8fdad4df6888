#include "collectives/bank_memory.hpp"

#include <algorithm>

namespace headway::collectives {

bank_memory::bank_memory(int own_rank, rails::shm_slots& slots,
                         std::span<const rails::peer_id> processes, const location& where)
    : own_rank_(own_rank),
      slots_(slots),
      processes_(processes.begin(), processes.end()),
      ring_(where.ring),
      passed_(where.passed),
      bank_bytes_(where.bytes),
      piece_bytes_(std::min(where.bytes / 4, piece_bytes_max)),
      copies_(std::make_unique<base::copy_for_reader[]>(processes.size() + 1)) {
  HEADWAY_ASSERT(processes.size() <= std::size_t{rank_set::ranks_max} && 0 <= own_rank &&
                 own_rank < size());
  HEADWAY_ASSERT(where.bytes >= 256 && (!where.passed || processes.size() == 2));
  move_to(where.page_at, where.bank_at);
  for (const auto process : processes_) areas_.push_back(slots.bank_of(process, where.slot));
}

void bank_memory::move_to(std::size_t page_at, std::size_t bank_at) noexcept {
  constexpr auto end = rails::shm_slots::banked_bytes;
  HEADWAY_ASSERT(page_at + page_bytes <= end &&
                 bank_at + static_cast<std::size_t>(bank_bytes_) <= end);
  page_at_ = page_at;
  bank_at_ = bank_at;
}

}  // namespace headway::collectives
