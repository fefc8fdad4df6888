#pragma once

#include "base/tunable.hpp"

namespace headway::packets {

extern base::number_tunable eager_memory_bytes;
extern base::number_tunable eager_peer_bytes_max;

}  // namespace headway::packets
