#pragma once

#include <string>

namespace headway::mpiexec {

/// The path of a program, or why it cannot be run, with a shell's exit code for that.
struct program_place {
  std::string path;   ///< relative to the rank's directory
  int exit_code = 0;  ///< 0, or 126 (cannot be run), 127 (not found)
  std::string why;    ///< one line if the code is not 0
};

/// Finds `name` as a shell in `directory` does (empty: the current one): without a slash along
/// `search_path`, else the file itself; a relative path that `directory` does not have is also
/// tried in the current directory. Other than in a shell, a name that is not in `search_path` may
/// be a program in either directory.
[[nodiscard]] program_place find_program(const std::string& name, const std::string& directory,
                                         const std::string& search_path);

/// The first program of that name in the folders of `search_path`; empty: there is none.
[[nodiscard]] std::string find_in_path(const std::string& name, const std::string& search_path);

}  // namespace headway::mpiexec
