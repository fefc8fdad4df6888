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
/// Shape:    each piece under way is exposed by itself: bytes count for their piece alone, and late
///           ones are dropped.
struct inflow : base::list_hook<> {
  /// pieces under way on a rail, so that it always has work
  static constexpr std::size_t depth = 2;

  struct range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  /// A piece that the peer is asked for. Used for one after the other.
  struct asked : landing {
    inflow* of = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t number = 0;  ///< in the table of landings; constant
    std::uint32_t turn = 0;    ///< how often it was used: distinguishes the events of each use
    bool under_way = false;
    rails::ticket ticket;
    range what;
    std::uint64_t at_ns = 0;
    double predicted_ns = 0;
  };
  using way = std::array<asked, depth>;

  /// Events find a piece by its number, without the lock: these fields are written only here.
  inflow(incoming_flows& whose, std::size_t lanes, rendezvous& numbers) {
    open.reserve(1 + ways.size() * depth);  // the rest and all pieces under way: never more ranges
    for (std::uint32_t i = 0; i < lanes; ++i)
      for (auto& piece : ways[i]) {
        piece.divided = &whose;
        piece.of = this;
        piece.lane = i;
        piece.number = numbers.enter(piece);
      }
  }

  transfer* whole = nullptr;
  std::uint64_t bytes_left = 0;  ///< of pieces that have not arrived whole
  bool hungry = false;           ///< `feed` is to be called
  std::vector<range> open;       ///< not requested on any rail; no two are adjacent
  std::array<way, rails_per_peer_max> ways;
};

/// A piece to be sent. Pooled.
struct flow_piece : send_item, base::list_hook<> {
  outgoing_flows* of = nullptr;
  transfer* whole = nullptr;
  std::uint8_t lane = 0;
  double departure = 0;  ///< rail_departures::mark
};

/// A packet of this module to be sent. Pooled.
struct control_item : send_item {
  bundle* of = nullptr;
};

}  // namespace headway::packets
