#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// The words of a file for -configfile: each line is what stands between two ':' of a command line.
/// Quotes and '\' are as in a shell; '#' begins a line of comment, '\' at its end continues a line.
/// Errors:   `bad_input` when it cannot be read, has an open quote, or has no words.
[[nodiscard]] base::result<std::vector<std::string>> words_of_config_file(const std::string& path);

}  // namespace headway::mpiexec
