#include "base/tunable.hpp"
#include "topology/settings.hpp"

namespace headway::topology {
namespace {

base::text_tunable synthetic{
    "HEADWAY_TOPOLOGY", "", "hwloc's synthetic syntax, for example package:2 core:4 pu:1",
    "machine to imagine instead of the real one, to try the queue tree of larger machines"};

}  // namespace

settings settings::from_environment() { return {.description = synthetic.get()}; }

}  // namespace headway::topology
