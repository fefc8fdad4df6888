#pragma once

#include <vector>

#include "rails/interfaces.hpp"

namespace headway::testing {

/// This machine's loopback; empty: its interfaces cannot be listed.
[[nodiscard]] inline std::vector<rails::net_interface> loopback() {
  auto all = rails::list_interfaces();
  if (!all) return {};
  std::erase_if(*all, [](const rails::net_interface& i) { return !i.loopback; });
  return std::move(*all);
}

}  // namespace headway::testing
