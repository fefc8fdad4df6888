#include "packets/strategies/aggregate.hpp"

#include "packets/send_item.hpp"

namespace headway::packets::strategies {

std::size_t choose_together(const backlog& waiting, const frame_room& room,
                            std::span<const send_item*> frame) noexcept {
  std::size_t taken = 0;
  std::size_t bytes = 0;
  // False: the frame is full. The first packet is taken whatever its size: alone it needs no frame.
  const auto take = [&](const send_item& item) {
    const auto more = item.head_bytes + item.payload.size();
    if (taken == frame.size() || taken == room.packets_max) return false;
    if (taken > 0 && bytes + more > room.bytes_max) return false;
    frame[taken++] = &item;
    bytes += more;
    return true;
  };
  for (const bool urgent : {true, false}) {
    const send_item* item = waiting.first;
    for (std::size_t i = 0; i < waiting.count && item; ++i) {
      if (item->urgent == urgent && !take(*item)) return taken;
      item = item->next.load(std::memory_order_relaxed);  // under the peer's mask
    }
  }
  return taken;
}

std::size_t aggregate::choose(const backlog& waiting, std::uint32_t, std::span<const rail_state>,
                              const frame_room& room,
                              std::span<const send_item*> frame) const noexcept {
  return choose_together(waiting, room, frame);
}

std::size_t aggregate::split(const remainder& what, std::span<const rail_state> rails,
                             std::span<piece> pieces) const noexcept {
  return fifo().split(what, rails, pieces);
}

}  // namespace headway::packets::strategies
