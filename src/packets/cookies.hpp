#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "packets/bundle/replay_ring.hpp"
#include "packets/posted_packet.hpp"
#include "packets/send_item.hpp"

namespace headway::packets {

/// The cookie of a posted packet, which the driver returns with the event: its address.
[[nodiscard]] inline std::uint64_t cookie_of(const posted_packet& what) noexcept {
  return reinterpret_cast<std::uintptr_t>(&what);
}

[[nodiscard]] inline posted_packet& packet_of(std::uint64_t cookie) noexcept {
  HEADWAY_DEBUG_ASSERT(cookie != 0);
  return *reinterpret_cast<posted_packet*>(cookie);
}

[[nodiscard]] inline send_item& item_of(std::uint64_t cookie) noexcept {
  auto& what = packet_of(cookie);
  HEADWAY_DEBUG_ASSERT(what.kind == posted_kind::item);
  return static_cast<send_item&>(what);
}

/// Null: it is an item.
[[nodiscard]] inline replay_ring::frame* frame_of(std::uint64_t cookie) noexcept {
  auto& what = packet_of(cookie);
  return what.kind == posted_kind::frame ? &static_cast<replay_ring::frame&>(what) : nullptr;
}

}  // namespace headway::packets
