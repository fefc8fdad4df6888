#pragma once

#include <vector>

#include "base/result.hpp"
#include "launch/job.hpp"
#include "processes/table.hpp"
#include "runtime/settings.hpp"
#include "wireup/opened_rail.hpp"
#include "wireup/profiles.hpp"

namespace headway::runtime {

/// As which process the rails are opened.
struct this_process {
  const launch::job& job;
  processes::table& known;
  rails::peer_id me{};  ///< in it
};

/// Opens every rail that the settings admit, nearest first; second and further connections of an
/// interface behind all first ones. The one place that names the drivers.
///
/// Connections of each interface: as the settings say, else as many as `known` says that pay.
/// Errors:   an interface that cannot be opened is left out with a line in the log, while there is
///           another.
[[nodiscard]] base::result<std::vector<wireup::opened_rail>> open_rails(
    const this_process& own, const settings& how, const wireup::rail_profiles& known);

}  // namespace headway::runtime
