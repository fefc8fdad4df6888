#include "packets/strategies/aggregate.hpp"

#include <algorithm>

#include "packets/send_item.hpp"

namespace headway::packets::strategies {

std::size_t choose_together(const backlog& waiting, const frame_room& room) noexcept {
  std::size_t taken = 0;
  std::size_t bytes = 0;
  const auto most = std::min(waiting.count, room.packets_max);
  for (const send_item* item = waiting.first; item && taken < most;
       item = item->next.load(std::memory_order_relaxed)) {  // under the peer's mask
    bytes += packet_bytes(*item);
    // The first packet is taken whatever its size: alone it needs no frame.
    if (taken > 0 && bytes > room.bytes_max) break;
    ++taken;
  }
  return taken;
}

std::size_t aggregate::choose(const backlog& waiting, std::uint32_t, std::span<const rail_state>,
                              const frame_room& room) const noexcept {
  return choose_together(waiting, room);
}

std::size_t aggregate::split(const remainder& what, std::span<const rail_state> rails,
                             std::span<piece> pieces) const noexcept {
  return fifo().split(what, rails, pieces);
}

}  // namespace headway::packets::strategies
