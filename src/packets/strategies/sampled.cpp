#include "packets/strategies/sampled.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/assert.hpp"
#include "packets/send_list.hpp"
#include "packets/strategies/aggregate.hpp"
#include "sampling/division.hpp"
#include "sampling/profile.hpp"

namespace headway::packets::strategies {
namespace {

/// Bytes per nanosecond of a rail that was not measured: between a slow network and memory.
constexpr double guessed_rate = 1;

double busy_ns(const rail_state& r) noexcept { return static_cast<double>(r.busy_ns); }

double eager_ns(const rail_state& r, std::uint64_t bytes) noexcept {
  if (r.profile) return r.profile->eager.ns_for(bytes);
  return r.latency_ns + static_cast<double>(bytes) / guessed_rate;
}

/// Whether so many bytes would end sooner on another rail than on this one: on a busy one, or, with
/// `or_idle`, on any that is not down.
bool sooner_elsewhere(std::uint64_t bytes, std::uint32_t rail, std::span<const rail_state> rails,
                      bool or_idle) noexcept {
  const double here = busy_ns(rails[rail]) + eager_ns(rails[rail], bytes);
  return std::ranges::any_of(rails, [&](const rail_state& r) {
    using enum rail_state::condition;
    // A rail that is busy for an unknown time is not considered.
    const bool counts = r.now == busy ? r.busy_ns > 0 : r.now == idle && or_idle;
    return counts && busy_ns(r) + eager_ns(r, bytes) < here;
  });
}

/// The rails that are not down, in the form that the division needs.
struct candidates {
  std::array<sampling::way, rails_per_peer_max> ways;
  std::array<std::uint32_t, rails_per_peer_max> names;
  std::array<std::optional<sampling::curve>, rails_per_peer_max> guesses;
  std::size_t count = 0;

  explicit candidates(std::span<const rail_state> rails) noexcept {
    for (std::uint32_t i = 0; i < rails.size() && count < ways.size(); ++i) {
      const auto& r = rails[i];
      if (r.now == rail_state::condition::down) continue;
      if (!r.profile)
        guesses[count] = sampling::curve::straight(std::max(r.latency_ns, 1u), guessed_rate);
      ways[count] = {.time = r.profile ? &r.profile->piece : &*guesses[count],
                     .busy_ns = busy_ns(r)};
      names[count++] = i;
    }
  }
};

}  // namespace

std::size_t sampled::choose(const backlog& waiting, std::uint32_t rail,
                            std::span<const rail_state> rails,
                            const frame_room& room) const noexcept {
  if (waiting.count == 0) return 0;
  if (rails.size() == 1) return choose_together(waiting, room);
  if (sooner_elsewhere(packet_bytes(*waiting.first), rail, rails, false)) return 0;
  // A frame arrives when its last packet does: packets with which it would arrive sooner on another
  // rail are left out.
  auto count = choose_together(waiting, room);
  HEADWAY_DEBUG_ASSERT(count <= send_list::shown_max);
  std::array<std::uint64_t, send_list::shown_max> until;  // bytes of the packets up to each one
  std::uint64_t bytes = 0;
  const auto* item = waiting.first;
  for (std::size_t i = 0; i < count; ++i, item = item->next.load(std::memory_order_relaxed))
    until[i] = bytes += packet_bytes(*item);
  while (count > 1 && sooner_elsewhere(until[count - 1], rail, rails, true)) --count;
  return count;
}

std::size_t sampled::split(const remainder& what, std::span<const rail_state> rails,
                           std::span<piece> pieces) const noexcept {
  const candidates c(rails);
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
