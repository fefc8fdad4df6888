#pragma once

#include <string>

namespace headway::topology {

/// The user's settings of the machine.
struct settings {
  /// hwloc's synthetic syntax, "package:2 core:4 pu:1": an imagined machine; empty: the real one.
  std::string description{};
  /// How many processors the processes of a job use together on this node; 0: derived from the
  /// affinity masks of this process and its parent.
  int node_processors = 0;

  /// From HEADWAY_TOPOLOGY and HEADWAY_NODE_PROCESSORS.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::topology
