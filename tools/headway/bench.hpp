#pragma once

#include <string>
#include <vector>

namespace headway::tool {

/// `headway bench`: the experiments of the papers. This process becomes the Python program in
/// ../share/headway/bench beside the command, with these words.
/// Errors:   returns the exit status, after one line on standard error, only when that cannot be
///           started.
int bench(std::vector<std::string> words);

}  // namespace headway::tool
