#pragma once

#include "collectives/tuned_store.hpp"
#include "runtime/settings.hpp"
#include "topology/machine.hpp"

namespace headway::runtime {

/// Where the table of `headway tune` for this machine is, and what it must say of its origin.
[[nodiscard]] collectives::tuned_store tuned_store_of(const settings& chosen,
                                                      const topology::machine& machine);

/// What `tuned_store_of` finds. A table that is refused is reported in one line a job.
[[nodiscard]] std::optional<collectives::tuned_table> find_tuned(const settings& chosen,
                                                                 const topology::machine& machine);

/// A number that is equal on two processes if they choose alike by these tables; 0: no table.
[[nodiscard]] std::uint64_t tuned_number(const std::optional<collectives::tuned_table>& table,
                                         const topology::machine& machine);

}  // namespace headway::runtime
