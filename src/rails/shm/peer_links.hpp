#pragma once

#include "rails/peer_map.hpp"
#include "rails/shm/send_channel.hpp"

namespace headway::rails::shm {

/// The send channels to the peers for which `connect` was called.
using peer_links = peer_map<send_channel>;

}  // namespace headway::rails::shm
