#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/pairing.hpp"
#include "launch/job.hpp"
#include "rails/driver.hpp"

namespace headway::engine {

/// A rail that was opened, and what others need to reach it.
struct opened_rail {
  std::string driver;  ///< "self", "shm", "tcp"
  std::unique_ptr<rails::driver> rail;
  std::vector<std::byte> address;
  std::string address_text;  ///< the same, for people
};

/// Opens every rail that HEADWAY_RAILS admits, nearest first. The one place that names the drivers.
/// Errors:   an interface that cannot be opened is left out with a line in the log, while there is
///           another.
[[nodiscard]] base::result<std::vector<opened_rail>> open_rails(const launch::job& job);

/// Tells the others how to reach them; they see it after the next exchange.
[[nodiscard]] base::result<> publish_rails(launch::job& job, std::span<const opened_rail> rails);

/// The rail of another process that one of ours talks to.
struct partner {
  std::optional<rail_address> address;  ///< none: none
  std::size_t turn = 0;  ///< both processes count the pairs of rails between them alike
};
/// One for each of our rails.
[[nodiscard]] base::result<std::vector<partner>> find_partners(launch::job& job, int rank,
                                                               std::span<const opened_rail> rails);

/// How the rails of this driver pair with a peer's; null: in order.
[[nodiscard]] nearness_of nearness_for(std::string_view driver);

}  // namespace headway::engine
