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
    enum class state : std::uint8_t {
      free,
      chosen,     ///< the thread that serves the inflow exposes its memory
      under_way,  ///< exposed: the peer is asked for it
      ended,      ///< the thread that serves the inflow withdraws its memory
    };
    inflow* of = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t number = 0;  ///< in the table of landings; constant
    std::uint32_t turn = 0;    ///< how often it was used: distinguishes the events of each use
    state now = state::free;
    bool again = false;  ///< once it is withdrawn, its bytes are to be asked for again
    rails::ticket ticket;
    range what;
    std::uint64_t at_ns = 0;
    double predicted_ns = 0;
  };
  using way = std::array<asked, depth>;
  static constexpr std::size_t pieces_max = rails_per_peer_max * depth;
  static constexpr std::size_t ranges_max = 3 * pieces_max;  ///< open ones and pieces in use

  /// Events find a piece by its number, without the lock: these fields are written only here.
  inflow(incoming_flows& whose, std::size_t lanes, rendezvous& numbers) {
    open.reserve(ranges_max);
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
  bool hungry = false;           ///< more is to be asked for
  bool served = false;           ///< a thread is inside `incoming_flows::serve`
  bool lost = false;             ///< so is its peer
  std::vector<range> open;       ///< not asked for on any rail; within its capacity
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
