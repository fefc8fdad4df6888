#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpi/one_sided/window.hpp"

namespace headway::mpi {

/// What MPI_Win_get_info shows: the hints of windows with the values that this one was given, or
/// the library's, and `headway_ways`, how this process reaches each rank.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> hints_in_force(window& of);

}  // namespace headway::mpi
