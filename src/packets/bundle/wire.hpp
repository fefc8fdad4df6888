#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "packets/outgoing.hpp"

namespace headway::packets {

/// What travels over a rail of a bundle.
enum class frame_kind : std::uint8_t {
  data = 0xf1,  ///< numbered, kept until acknowledged: packets follow
  ack = 0xf2,   ///< only the head; lost without harm
  ask = 0xf3,   ///< the same, and wants an `ack` on the same rail
};

/// The head of a frame. `kind` lies where a stream_head has its own, with other values: one who
/// expects packets without frames, or the other way round, notices at once.
struct frame_head {
  std::uint32_t acknowledged = 0;  ///< every frame before this one has arrived, modulo 2^32
  frame_kind kind = frame_kind::data;
  std::uint8_t zero = 0;
  std::uint16_t packets = 0;   ///< of data: how many follow
  std::uint32_t sequence = 0;  ///< of data, modulo 2^32
  std::uint32_t bytes = 0;     ///< of all that follow the head
};
static_assert(sizeof(frame_head) == 16);
static_assert(offsetof(frame_head, kind) == offsetof(stream_head, kind));

/// In front of each packet of a frame; packets begin at multiples of 8.
struct packet_mark {
  std::uint32_t bytes = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(packet_mark) == 8);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + 7) & ~std::size_t{7};
}
/// What a packet takes of a frame.
[[nodiscard]] inline std::size_t room_in_frame(const outgoing& item) noexcept {
  return sizeof(packet_mark) + padded(item.head_bytes + item.payload.size());
}

/// Packets of this room inside frames; the room above has the kinds below 0xe0.
enum class control_kind : std::uint8_t {
  pull = 0xe1,       ///< the receiver names a piece of a message, and the rail for it
  pull_over = 0xe2,  ///< the receiver has all it wants of a message
  lane_down = 0xe3,  ///< the sender of this has given up a rail
  refuse = 0xe4,     ///< a piece that was asked for did not go: its rail is not up here
};

constexpr std::uint8_t control_kinds = 0xe0;  ///< this room's begin here

/// A packet of this room: begins like a stream_head.
struct control {
  std::uint32_t credit = 0;
  control_kind kind = control_kind::pull;
  std::uint8_t lane = 0;  ///< the rail: its place among those of the bundle, the same at both ends
  std::uint16_t zero = 0;
  std::uint32_t send_id = 0;  ///< the sender's number of the message
  std::uint32_t zone = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(control) == 32 && sizeof(control) <= outgoing::head_bytes_max);

/// Calls `take(packet)` for each packet in a frame's contents. False: they make no sense.
template <class Take>
[[nodiscard]] bool each_packet(std::span<const std::byte> contents, std::size_t count,
                               Take&& take) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    packet_mark mark;
    if (contents.size() < sizeof mark) return false;
    std::memcpy(&mark, contents.data(), sizeof mark);
    contents = contents.subspan(sizeof mark);
    if (mark.bytes < sizeof(stream_head) || mark.bytes > contents.size()) return false;
    take(contents.first(mark.bytes));
    contents = contents.subspan(std::min(padded(mark.bytes), contents.size()));
  }
  return contents.empty();
}

}  // namespace headway::packets
