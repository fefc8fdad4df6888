#include "packets/strategies/fifo.hpp"

#include <utility>

#include "packets/send_item.hpp"

namespace headway::packets::strategies {

std::size_t fifo::choose(const backlog& waiting, std::uint32_t, std::span<const rail_state>,
                         const frame_room&) const noexcept {
  return waiting.count == 0 ? 0 : 1;
}

std::size_t fifo::split(const remainder& what, std::span<const rail_state> rails,
                        std::span<piece> pieces) const noexcept {
  const auto cost = [](const rail_state& r) { return std::pair(r.busy_ns, r.latency_ns); };
  const rail_state* best = nullptr;
  for (const auto& r : rails) {
    if (r.now == rail_state::condition::down) continue;
    if (!best || cost(r) < cost(*best)) best = &r;
  }
  if (!best || what.bytes == 0) return 0;
  pieces[0] = {.offset = what.offset,
               .bytes = what.bytes,
               .rail = static_cast<std::uint32_t>(best - rails.data())};
  return 1;
}

}  // namespace headway::packets::strategies
