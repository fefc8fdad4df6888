#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace headway::mpi::tools {

/// The words for the values 0, 1, … of a variable, or for the elements of an event.
/// Threads:  any.
[[nodiscard]] MPI_T_enum enumeration(std::string name, std::vector<std::string> items);

}  // namespace headway::mpi::tools
