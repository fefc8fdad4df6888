#pragma once

#include <string>

namespace headway::rails {

/// Which rails the user wants. What the drivers can be told is in settings of their own.
struct settings {
  std::string wanted = {};  ///< HEADWAY_RAILS, as `select_rails` reads it
  int connections = 0;      ///< HEADWAY_CONNECTIONS, to a peer on an interface; 0: as profiles say

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::rails
