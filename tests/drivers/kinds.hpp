#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "rails/driver.hpp"

namespace headway::rails::testing {

/// A kind of driver that keeps the contract. To add a driver, add an entry in kinds.cpp.
struct kind {
  std::string name;
  /// Makes the driver of process `rank` of `size` in the job `job`, not yet open. Several of them
  /// may be in one process or in several.
  std::function<std::unique_ptr<driver>(const std::string& job, int rank, int size)> make;
  /// Whether it reaches other ranks. `self` does not: its tests have one driver that is both ends.
  bool reaches_others = true;
  /// Whether it also reaches other processes of the machine.
  bool reaches_processes = true;
};

const std::vector<kind>& kinds();

inline void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }

}  // namespace headway::rails::testing
