#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/doors.hpp"
#include "engine/pairing.hpp"
#include "launch/job.hpp"
#include "rails/driver.hpp"

namespace headway::engine {

/// A rail that was opened, and what others need to reach it.
struct opened_rail {
  std::string driver;        ///< "self", "shm", "tcp"
  std::string interface;     ///< "eth0"; empty: this driver knows none
  int connection = 1;        ///< of several on that interface
  connection_wishes wishes;  ///< of the interface
  std::unique_ptr<rails::driver> rail;
  std::vector<std::byte> address;
  std::string address_text;  ///< the same, for people
};

/// Opens every rail that HEADWAY_RAILS admits, nearest first; second and further connections of
/// an interface behind all first ones. The one place that names the drivers.
///
/// `connections`: for each interface, and wanted with everybody; none: as many as wished with
/// anybody, by HEADWAY_CONNECTIONS or by the profiles of this host.
/// Errors:   an interface that cannot be opened is left out with a line in the log, while there is
///           another.
[[nodiscard]] base::result<std::vector<opened_rail>> open_rails(
    const launch::job& job, std::optional<int> connections = std::nullopt);

/// How the rails of this driver pair with a peer's; null: in order.
[[nodiscard]] nearness_of nearness_for(std::string_view driver);

}  // namespace headway::engine
