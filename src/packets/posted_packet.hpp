#pragma once

#include <cstdint>

namespace headway::packets {

enum class posted_kind : std::uint8_t {
  item,   ///< send_item
  frame,  ///< replay_ring::frame
};

/// The first byte of whatever is given to a driver that may report its end later: the driver's
/// event has its address (cookies.hpp). It stays where it is until that event.
struct posted_packet {
  const posted_kind kind;

 protected:
  explicit constexpr posted_packet(posted_kind of) noexcept : kind(of) {}
  ~posted_packet() = default;
};

}  // namespace headway::packets
