#include "rails/landing_zones.hpp"

#include <utility>

#include "base/assert.hpp"

namespace headway::rails {

landing_zones::group& landing_zones::group_of(landing_id id) noexcept {
  // Fibonacci hashing: names that count up, and names that count in their high half, both spread.
  const auto mixed = static_cast<std::uint32_t>(id) * 2654435769u;
  static_assert(group_count == 64);
  return groups_[mixed >> 26];
}

landing_zones::zone* landing_zones::find(landing_id id) noexcept {
  const auto wanted = static_cast<std::uint32_t>(id);
  if (wanted == 0) return nullptr;
  for (zone& z : group_of(id)) {
    // A hint that carries nothing: what it says is looked at again under the lock.
    if (z.id.load(std::memory_order_relaxed) != wanted) continue;
    z.lock.lock();
    if (z.id.load(std::memory_order_relaxed) == wanted) return &z;
    z.lock.unlock();
  }
  return nullptr;
}

bool landing_zones::open(peer_id peer, landing_id id, std::span<std::byte> target) noexcept {
  HEADWAY_DEBUG_ASSERT(id != landing_id::none);
  for (zone& z : group_of(id)) {
    if (z.id.load(std::memory_order_relaxed) != 0 || !z.lock.try_lock()) continue;
    const bool free = z.id.load(std::memory_order_relaxed) == 0;
    if (free) {
      z.peer = peer;
      z.target = target;
      z.id.store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
    }
    z.lock.unlock();
    if (free) return true;
  }
  return false;
}

std::optional<peer_id> landing_zones::close(landing_id id) noexcept {
  zone* z = find(id);
  if (!z) return std::nullopt;
  const bool lent = std::exchange(z->lent, 0) != 0;
  const peer_id peer = z->peer;
  z->target = {};
  z->id.store(0, std::memory_order_relaxed);
  z->lock.unlock();
  return lent ? std::optional(peer) : std::nullopt;
}

void landing_zones::give_back(landing_id id) noexcept {
  zone* z = find(id);
  if (!z) return;
  HEADWAY_DEBUG_ASSERT(z->lent > 0);
  --z->lent;
  z->lock.unlock();
}

}  // namespace headway::rails
