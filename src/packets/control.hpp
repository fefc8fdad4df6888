#pragma once

#include <cstddef>
#include <cstdint>

#include "packets/send_item.hpp"

namespace headway::packets {

/// Kinds of packets of this module, those whose stream_head has `own_kind`.
enum class control_kind : std::uint8_t {
  credit,     ///< nothing but the credit; the packet is a stream_head
  cts,        ///< the receiver has exposed memory for a part of a message, and names its rail
  pieces,     ///< the receiver wants a message in pieces; `target` has its number and the bytes
  piece,      ///< a part of such a message; the packet is a piece_head and the bytes
  received,   ///< the receiver has everything that it wants of a message
  refused,    ///< a part was not sent: its rail is down at the sender
  lane_down,  ///< the peer no longer uses a rail
  lane_lost,  ///< a connection has ended: parts that the peer sent over it may be lost
};

/// Begins like a stream_head.
struct control {
  std::uint32_t credit = 0;
  std::uint8_t kind = own_kind;
  control_kind what = control_kind::cts;
  std::uint8_t lane = 0;  ///< the rail: its place among the peer's, the same at both ends
  std::uint8_t zero = 0;
  std::uint32_t send_id = 0;  ///< the sender's number for the message
  std::uint32_t zero_too = 0;
  std::uint64_t offset = 0;   ///< of the part in the message
  rails::ticket target = {};  ///< where the part goes, and its size
};
static_assert(sizeof(control) == 48 && sizeof(control) <= send_item::head_bytes_max);

/// Begins like a stream_head.
struct piece_head {
  std::uint32_t credit = 0;
  std::uint8_t kind = own_kind;
  control_kind what = control_kind::piece;
  std::uint8_t zero[2] = {};
  std::uint32_t receive_id = 0;  ///< the receiver's number for the message
  std::uint32_t zero_too = 0;
  std::uint64_t offset = 0;  ///< of the bytes in the message
};
static_assert(sizeof(piece_head) == 24 && offsetof(piece_head, what) == offsetof(control, what));

}  // namespace headway::packets
