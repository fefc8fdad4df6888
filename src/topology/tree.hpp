#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace headway::topology {

/// Asks hwloc for packages, dies, L3 caches and cores and nothing else, and prunes the levels that
/// have no siblings. `description` empty: this machine, as far as this process may run on it.
/// Progress: 1.5 to 2.5 ms here; a full hwloc load with devices takes 5 ms and more.
[[nodiscard]] base::result<std::vector<place>> read_tree(const std::string& description);

}  // namespace headway::topology
