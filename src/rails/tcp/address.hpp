#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rails/interfaces.hpp"

namespace headway::rails::tcp {

/// An address and port on which a process listens.
struct endpoint {
  ip_address ip;
  std::uint16_t port = 0;

  bool operator==(const endpoint&) const = default;
  [[nodiscard]] std::string text() const;  ///< "10.0.0.1:4711", "[fd00::1]:4711"
};

/// What `open` publishes: the addresses of every chosen interface, and the key of the loopback.
/// Shape:    version, count, 16 bytes of loopback key, then 20 bytes for each endpoint; at most
///           `endpoints_max` of them.
struct address {
  static constexpr std::size_t endpoints_max = 16;
  std::array<std::byte, 16> loopback_key{};
  std::vector<endpoint> endpoints;

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Nothing: the bytes are not a valid address.
  [[nodiscard]] static std::optional<address> decode(std::span<const std::byte> bytes);
};

/// How near two listeners are to each other; symmetric.
enum class closeness : std::uint8_t {
  apart,         ///< no address of the same family that could be reached
  same_family,   ///< a router may connect them
  same_subnet,   ///< on one network
  same_host,     ///< within one loopback
  same_address,  ///< within one loopback, on the same interface
};
[[nodiscard]] closeness closeness_of(const address& one, const address& other);

/// A route to a peer: connect to `to`; from `from` if both are on one subnet; through `device` if
/// another interface of this process is on that subnet, too.
struct route {
  endpoint to;
  std::optional<ip_address> from = std::nullopt;
  std::string device = {};
};

/// The routes to `theirs` from interfaces with `ours`, most promising first: an address on a subnet
/// of ours, then any other of a family that we have; loopback only within one loopback.
[[nodiscard]] std::vector<route> routes_to(const address& theirs,
                                           std::span<const net_interface> ours,
                                           const std::array<std::byte, 16>& our_loopback_key);

}  // namespace headway::rails::tcp
