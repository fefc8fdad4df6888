#pragma once

#include <span>

namespace headway::mpi {

struct function_entry {
  const char* name;     ///< "MPI_Send_c"
  const char* chapter;  ///< "point_to_point"
  bool implemented;     ///< otherwise the call returns MPI_ERR_UNSUPPORTED_OPERATION
};

/// Every function of the C interface, by chapter: for `headway info --mpi` and the tests.
[[nodiscard]] std::span<const function_entry> function_list() noexcept;

}  // namespace headway::mpi
