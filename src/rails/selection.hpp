#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "rails/interfaces.hpp"

namespace headway::rails {

/// One rail to open: a driver, and, for a network driver, its interface.
struct rail_choice {
  std::string driver;
  std::optional<net_interface> interface = std::nullopt;
  int connection = 1;  ///< among several on the interface, each of which is a rail; from 1
};

/// A driver that can be named.
struct driver_kind {
  std::string_view name;
  bool networked = false;  ///< takes interfaces: "tcp:eth0"
};

/// Which rails to open, in order of preference.
///
/// `text` is a list with commas. A word is
///   DRIVER            that driver; a networked one once for every interface that reaches others
///   DRIVER:PATTERN    on the interfaces whose names match (shell patterns), loopback and
///                     containers' bridges included
///   !NAME or ^NAME    not that driver, or not the interfaces that match
///   !DRIVER:PATTERN   the same, for that driver
/// Each interface is one rail, at most once for a driver.
/// An empty list, or one of exclusions only, starts from all `drivers`. The driver "self" is always
/// first unless it is excluded: no other one carries a process's messages to itself.
///
/// Left out unless named: interfaces that are down, have no address or belong to a bridge, those of
/// containers and virtual machines (`container_interfaces`), and loopback if there is another
/// interface.
///
/// Errors:   `bad_input`: an unknown driver, or an interface that does not exist or is down. The
///           text lists the valid names.
[[nodiscard]] base::result<std::vector<rail_choice>> select_rails(
    std::string_view text, std::span<const net_interface> interfaces,
    std::span<const driver_kind> drivers);

}  // namespace headway::rails
