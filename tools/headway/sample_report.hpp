#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sampling/connections.hpp"
#include "sampling/record.hpp"
#include "tools/headway/rail_meter.hpp"

namespace headway::tool {

/// One rail as `headway sample` shows it, seen from this host.
struct sampled_rail {
  sampling::record kept;
  measured out;  ///< from here to there
  measured in;   ///< from there to here
  /// Rates over several connections at once; empty: not measured.
  std::vector<sampling::stream_rates> streams_out, streams_in;
  std::uint64_t eager_bytes_max = 0;
  std::string file;   ///< where the profile went; empty: nowhere
  std::string fault;  ///< why it could not be measured; empty: it was
};

[[nodiscard]] std::string sample_table(std::span<const sampled_rail> rails);
[[nodiscard]] std::string sample_json(std::span<const sampled_rail> rails);

}  // namespace headway::tool
