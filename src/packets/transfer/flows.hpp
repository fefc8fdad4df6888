#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intrusive_list.hpp"
#include "packets/send_item.hpp"
#include "packets/strategy.hpp"
#include "packets/transfer/rendezvous.hpp"

namespace headway::packets {

class bundle;

/// A message that is coming in over several rails.
/// Shape:    each piece under way is exposed by itself: bytes count for their piece alone, and what
///           comes late finds nothing.
struct inflow : base::list_hook<> {
  static constexpr std::size_t depth = 2;  ///< pieces under way on a rail: it never runs dry

  struct range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  /// A piece that the peer is asked for, one after the other.
  struct asked : landing {
    inflow* of = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t number = 0;  ///< among the landings; constant
    std::uint32_t turn = 0;    ///< of its askings: tells their events apart
    bool under_way = false;
    rails::ticket ticket;
    range what;
    std::uint64_t at_ns = 0;
    double predicted_ns = 0;
  };
  using way = std::array<asked, depth>;

  /// What events find by a piece's number, without the lock, is written here once.
  inflow(incoming_flows& whose, std::size_t lanes, rendezvous& numbers) {
    open.reserve(1 + ways.size() * depth);  // the rest, and every piece under way: never more
    for (std::uint32_t i = 0; i < lanes; ++i)
      for (auto& piece : ways[i]) {
        piece.divided = &whose;
        piece.of = this;
        piece.lane = i;
        piece.number = numbers.enter(piece);
      }
  }

  transfer* whole = nullptr;
  std::uint64_t bytes_left = 0;  ///< of pieces that are not here whole
  bool hungry = false;           ///< it is to be fed
  std::vector<range> open;       ///< that no rail was asked for, none touches another
  std::array<way, rails_per_peer_max> ways;
};

/// A piece on its way out. Pooled.
struct flow_piece : send_item, base::list_hook<> {
  outgoing_flows* of = nullptr;
  transfer* whole = nullptr;
  std::uint8_t lane = 0;
  double departure = 0;  ///< rail_departures::mark
};

/// A packet of this module on its way out. Pooled.
struct control_item : send_item {
  bundle* of = nullptr;
};

}  // namespace headway::packets
