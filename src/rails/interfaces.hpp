#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::rails {

enum class ip_family : std::uint8_t { v4 = 4, v6 = 6 };

/// An address of the Internet in network order, with the length of its subnet's prefix in bits.
/// An IPv4 address fills the first four bytes; the rest is zero.
struct ip_address {
  ip_family family = ip_family::v4;
  std::uint8_t prefix_bits = 0;
  std::array<std::byte, 16> bytes{};

  bool operator==(const ip_address&) const = default;
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Of the same family, and equal in the first `prefix_bits` bits of this address.
  [[nodiscard]] bool same_subnet(const ip_address& other) const noexcept;
  [[nodiscard]] std::string text() const;
};

/// A network interface of this process's network namespace.
struct net_interface {
  std::string name;
  bool usable = false;  ///< up, with a carrier, and it has an address
  bool loopback = false;
  bool enslaved = false;  ///< a port of a bridge or a bond: its master has the address
  /// Another usable interface is on one of its subnets: the kernel sends everything for that subnet
  /// over one of them, unless a socket is bound to its device.
  bool shares_subnet = false;
  std::vector<ip_address> addresses;  ///< IPv4 first; link-local IPv6 addresses are left out
};

/// Every interface, in the kernel's order.
[[nodiscard]] base::result<std::vector<net_interface>> list_interfaces();

/// The speed of an interface and its largest packet, from the kernel: "1000 Mbit/s, mtu 1500".
[[nodiscard]] std::string hardware_text(std::string_view interface);

/// Interfaces that never reach a process on another machine although they look as if they did:
/// bridges and tunnels that container and virtual machine managers create on every host with the
/// same private addresses. Shell patterns; left out unless the user names them.
[[nodiscard]] std::span<const std::string_view> container_interfaces() noexcept;

/// Distinguishes hosts, and network namespaces on a host: two processes with the same key reach
/// each other over the loopback interface.
[[nodiscard]] std::array<std::byte, 16> loopback_key();

}  // namespace headway::rails
