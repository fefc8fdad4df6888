#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace headway::base {

/// Where what can be made again is kept for this user: $HEADWAY_CACHE, or $XDG_CACHE_HOME/headway,
/// or ~/.cache/headway. It need not exist yet.
/// Errors:   `unsupported`: none of the three is set.
/// Source:   XDG Base Directory Specification: a path that is not absolute is to be ignored.
[[nodiscard]] result<std::filesystem::path> cache_folder();

}  // namespace headway::base
