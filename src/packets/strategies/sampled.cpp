#include "packets/strategies/sampled.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.hpp"
#include "packets/send_item.hpp"
#include "packets/strategies/aggregate.hpp"
#include "sampling/division.hpp"
#include "sampling/profile.hpp"

namespace headway::packets::strategies {
namespace {

/// Bytes per nanosecond of a rail that was not measured: between a slow network and memory.
constexpr double guessed_rate = 1;

double busy_ns(const rail_state& r, std::uint64_t now_ns) noexcept {
  if (r.now != rail_state::condition::busy || r.busy_until_ns <= now_ns) return 0;
  return static_cast<double>(r.busy_until_ns - now_ns);
}

double eager_ns(const rail_state& r, std::uint64_t bytes) noexcept {
  if (r.profile) return r.profile->eager.ns_for(bytes);
  return r.latency_ns + static_cast<double>(bytes) / guessed_rate;
}

/// The rails that are not down as the division wants them.
struct candidates {
  std::array<sampling::way, rails_per_peer_max> ways;
  std::array<std::uint32_t, rails_per_peer_max> names;
  std::array<std::optional<sampling::curve>, rails_per_peer_max> guesses;
  std::size_t count = 0;

  candidates(std::span<const rail_state> rails, std::uint64_t now_ns) noexcept {
    for (std::uint32_t i = 0; i < rails.size() && count < ways.size(); ++i) {
      const auto& r = rails[i];
      if (r.now == rail_state::condition::down) continue;
      if (!r.profile)
        guesses[count] = sampling::curve::straight(std::max(r.latency_ns, 1u), guessed_rate);
      ways[count] = {.time = r.profile ? &r.profile->piece : &*guesses[count],
                     .busy_ns = busy_ns(r, now_ns)};
      names[count++] = i;
    }
  }
};

}  // namespace

std::size_t sampled::choose(const backlog& waiting, std::uint32_t rail,
                            std::span<const rail_state> rails, const frame_room& room,
                            std::span<const send_item*> frame) const noexcept {
  if (waiting.count == 0) return 0;
  const bool others = std::ranges::any_of(
      rails, [](const rail_state& r) { return r.now == rail_state::condition::busy; });
  if (others) {
    // A frame is as good as its first packet: it decides for all that would leave with it.
    const auto bytes = waiting.first->head_bytes + waiting.first->payload.size();
    const double here = eager_ns(rails[rail], bytes);
    const auto now_ns = base::now_ns();
    for (const auto& r : rails) {
      if (r.now != rail_state::condition::busy || r.busy_until_ns <= now_ns) continue;
      if (busy_ns(r, now_ns) + eager_ns(r, bytes) < here) return 0;
    }
  }
  return choose_together(waiting, room, frame);
}

std::size_t sampled::split(const remainder& what, std::uint64_t now_ns,
                           std::span<const rail_state> rails,
                           std::span<piece> pieces) const noexcept {
  const candidates c(rails, now_ns);
  std::array<std::uint64_t, rails_per_peer_max> shares;
  const auto used = std::span(shares).first(c.count);
  sampling::divide(std::span(c.ways).first(c.count), what.bytes, used, piece_bytes_min);
  std::uint64_t offset = what.offset;
  std::size_t written = 0;
  for (std::size_t i = 0; i < c.count; ++i) {
    if (used[i] == 0) continue;
    pieces[written++] = {.offset = offset, .bytes = used[i], .rail = c.names[i]};
    offset += used[i];
  }
  return written;
}

}  // namespace headway::packets::strategies
