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
  /// A driver of process `rank` out of `size` in the job `job`: not yet open. Several of them may
  /// live in one process, or in several.
  std::function<std::unique_ptr<driver>(const std::string& job, int rank, int size)> make;
  /// Reaches other ranks. `self` does not: its tests have one driver that is both ends.
  bool reaches_others = true;
  /// Also those in other processes of the machine.
  bool reaches_processes = true;
};

const std::vector<kind>& kinds();

inline void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }

}  // namespace headway::rails::testing
