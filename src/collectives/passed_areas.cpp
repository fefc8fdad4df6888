#include "collectives/passed_areas.hpp"

#include <algorithm>
#include <bit>

#include "base/lock_guard.hpp"
#include "collectives/bank_memory.hpp"

namespace headway::collectives {

passed_areas::passed_areas(rails::shm_slots& memory, std::uint32_t slot, rails::peer_id own,
                           rails::peer_id other) noexcept
    : memory_(memory),
      slot_(slot),
      own_(reserved_in(memory.bank_of(own, slot))),
      others_(reserved_in(memory.bank_of(other, slot))) {
  buffers_.set_own(memory.bank_of(own, slot) + rails::shm_slots::passed_at);
  buffers_.set_peers(memory.bank_of(other, slot) + rails::shm_slots::passed_at);
}

passed_areas::reserved& passed_areas::reserved_in(std::byte* page) noexcept {
  constexpr std::size_t line_bytes = 64;
  static_assert(bank_memory::page_bytes + line_bytes <= rails::shm_slots::bank_page_bytes);
  return *reinterpret_cast<reserved*>(page + rails::shm_slots::bank_page_bytes - line_bytes);
}

std::byte* passed_areas::take(std::int64_t bytes, rails::passed_place& where) noexcept {
  if (!buffers_.any() || !has_room(bytes)) return nullptr;
  const base::lock_guard guard(lock_);
  return buffers_.take(where);
}

void passed_areas::read(rails::passed_place where) noexcept {
  const base::lock_guard guard(lock_);
  buffers_.read(where);
}

/// In both areas, because the next one to be taken may be either.
bool passed_areas::has_room(std::int64_t bytes) noexcept {
  if (bytes <= both_.load(std::memory_order_relaxed)) return true;
  if (own_.load(std::memory_order_relaxed) < bytes && !reserve(bytes)) return false;
  // What a process has reserved, the kernel keeps for all: the number carries nothing.
  const auto both =
      std::min(own_.load(std::memory_order_relaxed), others_.load(std::memory_order_relaxed));
  both_.store(both, std::memory_order_relaxed);
  return bytes <= both;
}

bool passed_areas::reserve(std::int64_t bytes) noexcept {
  constexpr std::uint64_t least = 64 * 1024;
  if (bytes > bytes_max || reserving_.exchange(true, std::memory_order_acquire)) return false;
  const auto now = std::bit_ceil(std::max(static_cast<std::uint64_t>(bytes), least));
  if (!memory_.reserve_passed(slot_, now)) return false;
  own_.store(static_cast<std::int64_t>(now), std::memory_order_relaxed);
  reserving_.store(false, std::memory_order_release);
  return true;
}

}  // namespace headway::collectives
