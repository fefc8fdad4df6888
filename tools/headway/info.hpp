#pragma once

namespace headway::tool {

struct info_options {
  bool mpi = false;       ///< only the MPI functions
  bool tunables = false;  ///< only the tunables
  bool json = false;
};

/// `headway info`: prints what this library is, sees and is set to. Returns the exit status.
int info(const info_options& wanted);

}  // namespace headway::tool
