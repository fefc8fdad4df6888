#pragma once

#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "launch/job.hpp"
#include "processes/table.hpp"
#include "rails/job_keys.hpp"
#include "runtime/settings.hpp"
#include "wireup/opened_rail.hpp"
#include "wireup/profiles.hpp"

namespace headway::runtime {

/// The process for which the rails are opened.
struct this_process {
  const launch::job& job;
  processes::table& known;
  const rails::job_keys* other_jobs = nullptr;  ///< null: no other job is ever met
  rails::peer_id me{};                          ///< its number in the table
  base::clock clock = {};
};

struct opened_rails {
  std::vector<wireup::opened_rail> all;
  bool node_left_out = false;  ///< a rail between the processes of a node could not be opened
};

/// Opens every rail that the settings admit, nearest first; second and further connections of an
/// interface after all first ones. The only place that names the drivers.
///
/// Connections of each interface: from the settings, else as many as pay according to `known`.
/// Errors:   shared memory or an interface that cannot be opened is left out, with a line in the
///           log, if another rail can replace it.
[[nodiscard]] base::result<opened_rails> open_rails(const this_process& own, const settings& how,
                                                    const wireup::rail_profiles& known);

}  // namespace headway::runtime
