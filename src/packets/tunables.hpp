#pragma once

#include "base/tunable.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

extern base::number_tunable eager_memory_bytes;
extern base::number_tunable eager_peer_bytes_max;
extern base::number_tunable rails_per_peer;
extern base::number_tunable cut_off_ms;

/// What HEADWAY_STRATEGY names.
[[nodiscard]] const strategy& default_strategy();

}  // namespace headway::packets
