#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packets/bundle/wire.hpp"
#include "packets/outgoing.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

class bundle;

/// A message that the room above wants to have: see `peer::pull`.
struct pull_order {
  std::span<std::byte> target;
  std::uint32_t send_id = 0;      ///< the sender's number of it
  void* owner = nullptr;          ///< comes back in `receiver::pulled`
  const strategy* how = nullptr;  ///< null: as HEADWAY_STRATEGY says
};

/// A message that is coming in over several rails.
/// Shape:    each piece under way has a zone of its own: bytes count for their piece alone, and
///           what comes late finds its zone closed.
struct inflow {
  static constexpr std::size_t depth = 2;  ///< pieces under way on a rail: it never runs dry

  struct range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  /// A piece that the peer was asked for.
  struct asked {
    inflow* of = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t zone = 0;  ///< 0: none is under way here
    range what;
    std::uint64_t landed = 0;  ///< bytes of it
    std::uint64_t at_ns = 0;
    double predicted_ns = 0;
  };
  using way = std::array<asked, depth>;

  /// What events find by a zone's number, without the lock, is written here once.
  explicit inflow(bundle& whose) noexcept : of(&whose) {
    for (std::uint32_t i = 0; i < ways.size(); ++i)
      for (auto& piece : ways[i]) {
        piece.of = this;
        piece.lane = i;
      }
  }

  bundle* const of;
  pull_order order;
  std::uint64_t bytes_left = 0;  ///< of pieces that are not here whole
  std::vector<range> open;       ///< that no rail was asked for, none touches another
  std::array<way, rails_per_peer_max> ways;
};

/// A message that the peer pulls.
struct outflow {
  std::uint32_t send_id = 0;
  std::span<const std::byte> data;
  void* owner = nullptr;
  std::uint32_t pieces_out = 0;
  bool over = false;  ///< nothing more will be asked for
  bool well = true;   ///< all of it arrived
};

/// A piece on its way out. Pooled.
struct flow_piece : outgoing {
  bundle* of = nullptr;
  outflow* flow = nullptr;
  std::uint8_t lane = 0;
};

/// A packet of this room on its way out. Pooled.
struct control_item : outgoing {
  bundle* of = nullptr;
};

}  // namespace headway::packets
