#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.hpp"
#include "packets/send_item.hpp"

namespace headway::packets {

/// Kinds of rail packets that are not a single packet of the modules above.
enum class frame_kind : std::uint8_t {
  together = 0xf0,  ///< packets that leave together, over the only rail to a peer
  // Of bundles:
  data = 0xf1,  ///< numbered, kept until acknowledged: packets follow
  ack = 0xf2,   ///< only the head; may be lost
  ask = 0xf3,   ///< only the head; the peer replies with an `ack` on the same rail
};

/// The head of a frame. `kind` is at the offset of `stream_head::kind`, with values that are not
/// used there: a receiver that does not expect frames, or expects only frames, detects the
/// mismatch.
struct frame_head {
  std::uint32_t acknowledged = 0;  ///< of a bundle: every frame before this one has arrived, modulo
                                   ///< 2^32
  frame_kind kind = frame_kind::data;
  std::uint8_t zero = 0;
  std::uint16_t packets = 0;   ///< how many follow
  std::uint32_t sequence = 0;  ///< of data, modulo 2^32
  std::uint32_t bytes = 0;     ///< of everything behind the head
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
/// The bytes that a packet takes in a frame.
[[nodiscard]] inline std::size_t room_in_frame(const send_item& item) noexcept {
  return sizeof(packet_mark) + padded(packet_bytes(item));
}

/// Writes the packets into `memory`, each with this credit. Returns the bytes written: the sum of
/// their `room_in_frame`.
inline std::size_t write_packets(std::span<send_item* const> chosen, std::uint32_t credit,
                                 std::byte* memory) noexcept {
  std::byte* at = memory;
  for (const send_item* item : chosen) {
    const auto bytes = packet_bytes(*item);
    HEADWAY_DEBUG_ASSERT(item->head_bytes >= sizeof credit);
    const packet_mark mark{.bytes = static_cast<std::uint32_t>(bytes)};
    std::memcpy(at, &mark, sizeof mark);
    at += sizeof mark;
    std::memcpy(at, item->head.data(), item->head_bytes);
    std::memcpy(at, &credit, sizeof credit);
    if (!item->payload.empty())
      std::memcpy(at + item->head_bytes, item->payload.data(), item->payload.size());
    std::memset(at + bytes, 0, padded(bytes) - bytes);
    at += padded(bytes);
  }
  return static_cast<std::size_t>(at - memory);
}

/// Calls `take(packet)` for each packet in a frame's contents. False: they are malformed.
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
