#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rails/driver.hpp"
#include "wireup/nic_addresses.hpp"
#include "wireup/rail_matching.hpp"

namespace headway::wireup {

/// Which processes a rail can reach.
enum class rail_reach : std::uint8_t { self, node, network };

/// A rail that was opened, and what other processes need to reach it.
struct opened_rail {
  std::string driver;  ///< "self", "shm", "tcp"
  rail_reach reach = rail_reach::network;
  std::string interface;     ///< "eth0"; empty: the driver has no interfaces
  int connection = 1;        ///< of several on that interface
  connection_wishes wishes;  ///< of the interface
  std::unique_ptr<rails::driver> rail;
  nearness_of judge = nullptr;  ///< compares its addresses; null: by their order
  std::vector<std::byte> address;
  std::string address_text;  ///< the same, as text
};

}  // namespace headway::wireup
