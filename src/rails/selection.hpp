#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "rails/interfaces.hpp"

namespace headway::rails {

/// One rail to open: a driver, and for a driver of networks its interface.
struct rail_choice {
  std::string driver;
  std::optional<net_interface> interface = std::nullopt;
  int connection = 1;  ///< of several on the interface, each of which is a rail: the first is 1
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
///   DRIVER:PATTERN    on the interfaces whose names match (shell patterns); also loopback
///                     and containers' bridges, because they were asked for
///   !NAME or ^NAME    not that driver, or not the interfaces that match
///   !DRIVER:PATTERN   the same, for that driver
/// Each interface is one rail, at most once for a driver.
/// An empty list, or one of exclusions only, starts from all `drivers`. The driver "self" is always
/// the first unless it is excluded: nothing else carries a process's messages to itself.
///
/// Left out unless named: interfaces that are down, have no address or belong to a bridge,
/// containers' and virtual machines' own (`container_interfaces`), and loopback
/// while there is another.
///
/// Errors:   `bad_input`: an unknown driver, or an interface that does not exist or is down. The
///           text names what there is.
[[nodiscard]] base::result<std::vector<rail_choice>> select_rails(
    std::string_view text, std::span<const net_interface> interfaces,
    std::span<const driver_kind> drivers);

}  // namespace headway::rails
