#pragma once

#include <array>
#include <string>
#include <string_view>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"

namespace headway::mpi {

/// The info key for a communicator's strategy, in place of HEADWAY_STRATEGY.
inline constexpr const char* strategy_hint = "headway_strategy";
/// The info key for a communicator's priority: one of `priority_names`.
inline constexpr const char* priority_hint = "headway_priority";
inline constexpr std::array<std::string_view, 2> priority_names{"normal", "urgent"};

/// Gives the hints to a communicator, open or not. One of this library's whose value is unknown is
/// said in one line and left out. Null: none.
void set_hints(communicator& comm, const info* hints);

/// Applies a hint to an open communicator, if it is one of this library's.
void follow_hint(communicator& comm, const std::string& key, const std::string& value);

}  // namespace headway::mpi
