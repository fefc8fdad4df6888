#pragma once

#include "packets/bundle/bundle_set.hpp"
#include "packets/stalled_list.hpp"
#include "packets/transfer/rendezvous.hpp"
#include "progress/core/engine.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class peer_state;

/// Finds the peer that a rail's event is about.
class peer_finder {
 public:
  /// Creates it, if it was not used yet.
  [[nodiscard]] virtual peer_state& state_of(rails::peer_id whom) noexcept = 0;
  /// [reaper] It has sent something over this rail, which is not connected to it.
  virtual void called(rails::peer_id whom, std::size_t rail_index) noexcept = 0;

 protected:
  ~peer_finder() = default;
};

/// What a rail needs besides its driver.
struct rail_host {
  peer_finder& peers;
  progress::engine& engine;
  rendezvous& large;
  bundle_set& set;
  stalled_list& stalled;
};

}  // namespace headway::packets
