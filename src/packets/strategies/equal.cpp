#include "packets/strategies/equal.hpp"

#include <algorithm>

#include "packets/strategies/aggregate.hpp"

namespace headway::packets::strategies {

std::size_t equal::choose(const backlog& waiting, std::uint32_t, std::span<const rail_state>,
                          const frame_room& room) const noexcept {
  return choose_together(waiting, room);
}

std::size_t equal::split(const remainder& what, std::span<const rail_state> rails,
                         std::span<piece> pieces) const noexcept {
  const auto up = [](const rail_state& r) { return r.now != rail_state::condition::down; };
  auto rails_left = static_cast<std::uint64_t>(std::ranges::count_if(rails, up));
  std::uint64_t offset = what.offset;
  std::uint64_t left = what.bytes;
  std::size_t written = 0;
  for (std::size_t i = 0; i < rails.size() && left > 0; ++i) {
    if (!up(rails[i])) continue;
    const auto part = (left + rails_left - 1) / rails_left;
    --rails_left;
    pieces[written++] = {
        .offset = offset, .bytes = part, .rail = static_cast<std::uint32_t>(i), .whole = true};
    offset += part;
    left -= part;
  }
  return written;
}

}  // namespace headway::packets::strategies
