#pragma once

#include <string>

namespace headway::topology {

/// What a user can choose of the machine.
struct settings {
  /// hwloc's synthetic syntax, "package:2 core:4 pu:1": a machine to imagine; empty: the real one.
  std::string description;

  /// As HEADWAY_TOPOLOGY says.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::topology
