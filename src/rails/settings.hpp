#pragma once

#include <string>

namespace headway::rails {

/// Which rails the user wants. Each driver has settings of its own.
struct settings {
  std::string wanted = {};  ///< HEADWAY_RAILS, parsed by `select_rails`
  int connections = 0;      ///< HEADWAY_CONNECTIONS, to a peer on an interface; 0: from profiles

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::rails
