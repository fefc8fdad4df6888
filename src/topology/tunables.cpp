// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "topology/settings.hpp"

namespace headway::topology {
namespace {

base::text_tunable synthetic{
    "HEADWAY_TOPOLOGY", "", "hwloc's synthetic syntax, for example package:2 core:4 pu:1",
    "machine to imagine instead of the real one, to try the queue tree of larger machines"};

base::number_tunable shared_processors{
    "HEADWAY_NODE_PROCESSORS",
    "",
    0,
    0,
    1'000'000,
    "how many processors the processes of a job use together on one node, at most all of them; set "
    "by mpiexec; 0: derived from the affinity masks of a process and its parent"};

}  // namespace

settings settings::from_environment() {
  return {.description = synthetic.get(),
          .node_processors = static_cast<int>(shared_processors.get())};
}

}  // namespace headway::topology
