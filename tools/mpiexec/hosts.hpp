#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// A machine of the job, and how many ranks a user wants there; 0: not said.
struct host {
  std::string name;
  int slots = 0;
};

/// The machines of "a,b:2". A name that is given again adds a rank, as in Open MPI.
/// Errors:   `bad_input` with the wrong part.
[[nodiscard]] base::result<std::vector<host>> hosts_of_list(std::string_view list);
/// The machines of a file, one a line: "a", "a:2" (Hydra, Intel MPI), "a slots=2" (Open MPI); '#'
/// begins a comment.
/// Errors:   `bad_input` when it cannot be read, or with the wrong line.
[[nodiscard]] base::result<std::vector<host>> hosts_of_file(const std::string& path);
/// Whether all of them are names of this machine.
[[nodiscard]] bool all_here(const std::vector<host>& hosts);

}  // namespace headway::mpiexec
