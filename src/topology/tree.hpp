#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace headway::topology {

/// Asks hwloc for packages, dies, L3 caches and cores and nothing else, and prunes the levels that
/// have no siblings. `description` empty: this machine, as far as this process may run on it.
/// Progress: 1.5 to 2.5 ms here; a full hwloc load with devices takes 5 ms and more.
struct tree {
  std::vector<place> places;
  int processors_before_binding = 1;  ///< of the control group's cpuset, whatever we are bound to
};
[[nodiscard]] base::result<tree> read_tree(const std::string& description);

}  // namespace headway::topology
