#pragma once

namespace headway::tool {

struct info_options {
  bool mpi = false;       ///< only the MPI functions
  bool tunables = false;  ///< only the tunables
  bool json = false;
};

/// `headway info`: prints the library's version, the machine that it has found, and its settings.
/// Returns the exit status.
int info(const info_options& wanted);

}  // namespace headway::tool
