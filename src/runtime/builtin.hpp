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

struct opened_rails {
  std::vector<wireup::opened_rail> all;
  bool node_left_out = false;  ///< a rail between the processes of a node could not be opened
};

/// Opens every rail that the settings admit, nearest first; second and further connections of an
/// interface behind all first ones. The one place that names the drivers.
///
/// Connections of each interface: as the settings say, else as many as `known` says that pay.
/// Errors:   shared memory or an interface that cannot be opened is left out with a line in the
///           log, while there is another rail behind it.
[[nodiscard]] base::result<opened_rails> open_rails(const this_process& own, const settings& how,
                                                    const wireup::rail_profiles& known);

}  // namespace headway::runtime
