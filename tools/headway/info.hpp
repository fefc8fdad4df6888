#pragma once

#include <string>
#include <vector>

namespace headway::tool {

struct info_options {
  bool mpi = false;          ///< only the MPI functions
  bool tunables = false;     ///< only the tunables
  bool collectives = false;  ///< only how the algorithms of collectives are chosen
  bool changed = false;      ///< only the tunables that differ from their defaults
  bool json = false;
  std::vector<std::string> words;  ///< only tunables and functions in which they all occur
};

/// `headway info`: prints the library's version, the machine that it has found, and its settings.
/// Returns the exit status.
int info(const info_options& wanted);

}  // namespace headway::tool
