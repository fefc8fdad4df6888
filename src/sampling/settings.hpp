#pragma once

#include <filesystem>

namespace headway::sampling {

/// The folder of what can be made again: $HEADWAY_CACHE, $XDG_CACHE_HOME/headway or
/// ~/.cache/headway. It need not exist yet. Empty: none of them is set.
/// Source:   XDG Base Directory Specification: a path that is not absolute is to be ignored.
[[nodiscard]] std::filesystem::path cache_folder();

/// Where the user's profiles are kept, and for how long they are valid.
struct settings {
  std::filesystem::path folder = {};  ///< HEADWAY_CACHE and others; empty: profiles are not kept
  int days_max = 90;                  ///< HEADWAY_PROFILE_DAYS

  /// The folder is `profiles` in `cache_folder`.
  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::sampling
