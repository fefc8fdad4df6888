#pragma once

#include <string>

namespace headway::mpiexec {

/// Where a program is, or why it cannot be run, with a shell's exit code for that.
struct program_place {
  std::string path;   ///< to be executed from the rank's directory
  int exit_code = 0;  ///< 0, or 126 (cannot be run), 127 (not found)
  std::string why;    ///< one line if the code is not 0
};

/// Looks for `name` as a shell does that has gone to `directory` (empty: stays here): without a
/// slash along `search_path`, else the file itself; a relative one that `directory` does not have
/// may also lie here.
[[nodiscard]] program_place find_program(const std::string& name, const std::string& directory,
                                         const std::string& search_path);

}  // namespace headway::mpiexec
