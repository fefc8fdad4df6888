#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/builtin.hpp"
#include "engine/doors.hpp"
#include "launch/job.hpp"

namespace headway::engine {

/// Tells the others how to reach our rails, and the name of this host; they see it after the next
/// exchange.
[[nodiscard]] base::result<> publish_rails(launch::job& job, std::span<const opened_rail> rails);

/// What a process has published as the name of its host.
[[nodiscard]] base::result<std::string> host_of(launch::job& job, int rank);

/// The rail of another process that one of ours talks to.
struct partner {
  std::optional<rail_address> address;  ///< none: none
  std::size_t turn = 0;  ///< both processes count the pairs of rails between them alike
};
/// One for each of our rails.
[[nodiscard]] base::result<std::vector<partner>> find_partners(launch::job& job, int rank,
                                                               std::span<const opened_rail> rails);

}  // namespace headway::engine
