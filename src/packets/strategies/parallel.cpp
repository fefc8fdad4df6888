#include "packets/strategies/parallel.hpp"

#include <algorithm>
#include <array>

#include "sampling/cutting.hpp"
#include "sampling/profile.hpp"

namespace headway::packets::strategies {

std::size_t parallel::choose(const backlog& waiting, std::uint32_t rail,
                             std::span<const rail_state> rails,
                             const frame_room& room) const noexcept {
  return sampled().choose(waiting, rail, rails, room);
}

std::size_t parallel::split(const remainder& what, std::span<const rail_state> rails,
                            std::span<piece> pieces) const noexcept {
  return sampled().split(what, rails, pieces);
}

std::size_t parallel::cut(std::uint64_t bytes, std::uint32_t rail,
                          std::span<const rail_state> rails, const helpers& threads,
                          std::span<piece> pieces) const noexcept {
  if (threads.idle == 0 || bytes < 2 * part_bytes_min || !rails[rail].profile) return 0;
  std::array<std::uint32_t, rails_per_peer_max> names;
  std::size_t count = 0;
  names[count++] = rail;
  for (std::uint32_t i = 0; i < rails.size() && count < names.size(); ++i)
    if (i != rail && rails[i].now == rail_state::condition::idle && rails[i].profile)
      names[count++] = i;
  const auto others = std::span(names).first(count).subspan(1);
  std::ranges::stable_sort(others, {},
                           [&](std::uint32_t i) { return rails[i].profile->eager.ns_for(bytes); });
  count = 1 + std::min(others.size(), threads.idle);
  std::array<sampling::way, rails_per_peer_max> ways;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& r = rails[names[i]];
    ways[i] = {.time = &r.profile->eager, .busy_ns = static_cast<double>(r.busy_ns)};
  }
  std::array<std::uint64_t, rails_per_peer_max> shares;
  if (!sampling::cutting_pays(std::span(ways).first(count), bytes,
                              static_cast<double>(threads.wake_ns), std::span(shares).first(count),
                              part_bytes_min))
    return 0;
  std::uint64_t offset = 0;
  std::size_t written = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (shares[i] == 0) continue;
    pieces[written++] = {.offset = offset, .bytes = shares[i], .rail = names[i]};
    offset += shares[i];
  }
  return written;
}

}  // namespace headway::packets::strategies
