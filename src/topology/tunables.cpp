#include "topology/tunables.hpp"

namespace headway::topology {

base::text_tunable topology_description{
    "HEADWAY_TOPOLOGY", "", "hwloc's synthetic syntax, \"package:2 core:4 pu:1\"",
    "machine to imagine instead of the real one, to try the queue tree of larger machines"};

}  // namespace headway::topology
