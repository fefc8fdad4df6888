#pragma once

#include "base/event_type.hpp"

/// What tools can observe of rails and peers.
namespace headway::packets::events {

extern base::event_type rail_lost;      ///< peer, rail
extern base::event_type rail_returned;  ///< peer, rail
extern base::event_type peer_lost;      ///< peer

}  // namespace headway::packets::events
