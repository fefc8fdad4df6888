#include "packets/strategies/loaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.hpp"
#include "base/shared_library.hpp"
#include "headway/strategy.h"
#include "packets/send_item.hpp"
#include "packets/strategies/sampled.hpp"
#include "sampling/profile.hpp"

namespace headway::packets::strategies {
namespace {

constexpr const char* entry = "headway_strategy_get";
constexpr std::size_t shown_max = 64;  // packets that one call of `choose` gets

sampling::profile profile_of(const headway_rail& rail) noexcept {
  if (rail.profile) return *static_cast<const sampling::profile*>(rail.profile);
  return sampling::profile::guessed(std::max(rail.latency_ns, 1u), 1);
}

const headway_strategy_host host{
    .version = HEADWAY_STRATEGY_VERSION,
    .now_ns = [] { return base::machine_now_ns(); },
    .packet_ns = [](const headway_rail* rail,
                    std::uint64_t bytes) { return profile_of(*rail).eager.ns_for(bytes); },
    .piece_ns = [](const headway_rail* rail,
                   std::uint64_t bytes) { return profile_of(*rail).piece.ns_for(bytes); },
};

using rail_list = std::array<headway_rail, rails_per_peer_max>;

std::span<const headway_rail> in_c(std::span<const rail_state> rails, rail_list& list) noexcept {
  static_assert(static_cast<int>(rail_state::condition::idle) == HEADWAY_RAIL_IDLE);
  static_assert(static_cast<int>(rail_state::condition::busy) == HEADWAY_RAIL_BUSY);
  static_assert(static_cast<int>(rail_state::condition::down) == HEADWAY_RAIL_DOWN);
  const auto count = std::min(rails.size(), list.size());
  const bool any_busy = std::ranges::any_of(rails, [](const auto& r) { return r.busy_ns != 0; });
  const auto now_ns = any_busy ? host.now_ns() : 0;
  for (std::size_t i = 0; i < count; ++i)
    list[i] = {.state = static_cast<std::uint32_t>(rails[i].now),
               .latency_ns = rails[i].latency_ns,
               .busy_until_ns = now_ns + rails[i].busy_ns,
               .profile = rails[i].profile};
  return std::span(list).first(count);
}

/// Checks the rules of `strategy::split`.
bool sound(std::span<const headway_piece> pieces, const remainder& what,
           std::span<const rail_state> rails) noexcept {
  auto at = what.offset;
  std::uint32_t used = 0;
  for (const auto& p : pieces) {
    if (p.offset != at || p.bytes == 0 || p.bytes > what.offset + what.bytes - at) return false;
    if (p.rail >= rails.size() || rails[p.rail].now == rail_state::condition::down) return false;
    if ((used >> p.rail & 1) != 0) return false;
    used |= 1u << p.rail;
    at += p.bytes;
  }
  return at == what.offset + what.bytes;
}

}  // namespace

base::result<const strategy*> loaded::from(const std::string& path) {
  const auto wrong = [&](std::string why) {
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("strategy {} is not used: {}", path, why));
  };
  const auto library = base::shared_library::load(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return wrong(library.error().text);
  decltype(&headway_strategy_get) get = nullptr;
  if (!library->find(entry, get)) return wrong(fmt::format("it does not export {}", entry));
  const headway_strategy* const what = get(&host);
  if (!what) return wrong("it refuses this version of Headway");
  if (what->version != HEADWAY_STRATEGY_VERSION)
    return wrong(fmt::format("it is of version {} of the interface, this Headway has {}",
                             what->version, HEADWAY_STRATEGY_VERSION));
  // Lives as long as the process, because messages may be under way until its end.
  return std::make_unique<loaded>(*what).release();
}

std::size_t loaded::choose(const backlog& waiting, std::uint32_t rail,
                           std::span<const rail_state> rails,
                           const frame_room& room) const noexcept {
  if (!what_.choose) return sampled().choose(waiting, rail, rails, room);
  std::array<headway_packet, shown_max> packets;
  std::size_t count = 0;
  for (const send_item* item = waiting.first; item && count < std::min(shown_max, waiting.count);
       item = item->next.load(std::memory_order_relaxed))  // under the peer's mask
    packets[count++] = {
        .bytes = packet_bytes(*item), .urgent = item->urgent ? 1u : 0u, .reserved = 0};
  if (count == 0) return 0;
  rail_list list;
  const auto states = in_c(rails, list);
  const auto most = std::min(room.packets_max, count);
  const headway_waiting question{.packets = packets.data(),
                                 .packet_count = count,
                                 .rails = states.data(),
                                 .rail_count = states.size(),
                                 .rail = rail,
                                 .packets_max = most,
                                 .bytes_max = room.bytes_max};
  const auto answer = what_.choose(&question);
  return answer <= most ? answer : 1;  // the scheduler checks whether they fit
}

std::size_t loaded::split(const remainder& what, std::span<const rail_state> rails,
                          std::span<piece> pieces) const noexcept {
  if (!what_.split) return sampled().split(what, rails, pieces);
  rail_list list;
  const auto states = in_c(rails, list);
  std::array<headway_piece, rails_per_peer_max> parts;
  const auto count =
      what_.split(what.offset, what.bytes, states.data(), states.size(), parts.data());
  if (count > states.size() || !sound(std::span(parts).first(count), what, rails))
    return sampled().split(what, rails, pieces);
  for (std::size_t i = 0; i < count; ++i)
    pieces[i] = {.offset = parts[i].offset,
                 .bytes = parts[i].bytes,
                 .rail = parts[i].rail,
                 .whole = parts[i].whole != 0};
  return count;
}

bool loaded::collects() const noexcept { return what_.collects != 0; }

}  // namespace headway::packets::strategies
