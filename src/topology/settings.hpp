#pragma once

#include <string>

namespace headway::topology {

/// The user's settings of the machine.
struct settings {
  /// hwloc's synthetic syntax, "package:2 core:4 pu:1": an imagined machine; empty: the real one.
  std::string description;

  /// From HEADWAY_TOPOLOGY.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::topology
