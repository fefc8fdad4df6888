#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "rails/driver.hpp"
#include "tests/job_table.hpp"

namespace headway::rails::testing {

/// A process for which a driver is made.
struct member {
  std::string world;  ///< a name; the drivers of one world reach each other
  int number = 0;     ///< of the process in its world
  int size = 1;       ///< of the world
  processes::table* known = nullptr;
  peer_id me{};  ///< the process in that table
};

/// A kind of driver that keeps the contract. To add a driver, add an entry in kinds.cpp.
struct kind {
  std::string name;
  /// A driver that is not yet open. Several of them may live in one process, or in several.
  std::function<std::unique_ptr<driver>(const member&)> make_for;
  /// Whether it reaches other ranks. `self` does not: its tests have one driver that is both ends.
  bool reaches_others = true;
  /// Whether it also reaches other processes of the machine.
  bool reaches_processes = true;

  /// For process `rank` of a job of `size`, which is a world of its own; ranks are peers' numbers.
  [[nodiscard]] std::unique_ptr<driver> make(const std::string& job, int rank, int size) const {
    return make_for({.world = job,
                     .number = rank,
                     .size = size,
                     .known = &headway::testing::table_of(job, static_cast<std::uint32_t>(size)),
                     .me = peer_id{static_cast<std::uint32_t>(rank)}});
  }
};

const std::vector<kind>& kinds();
/// Those between two processes.
std::vector<kind> kinds_that_reach_others();

inline void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }

}  // namespace headway::rails::testing
