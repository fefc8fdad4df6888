#pragma once

#include "rails/peer_map.hpp"
#include "rails/shm/send_channel.hpp"

namespace headway::rails::shm {

/// The ways to the peers that `connect` was called for.
using peer_links = peer_map<send_channel>;

}  // namespace headway::rails::shm
