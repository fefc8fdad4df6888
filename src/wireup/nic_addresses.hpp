#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::wireup {

using rail_address = std::vector<std::byte>;

/// How many connections a process wants to each other process through one of its interfaces.
struct connection_wishes {
  static constexpr std::size_t hosts_max = 0xffff;
  int usual = 1;                         ///< to hosts that are not in `of_host`
  std::map<std::uint64_t, int> of_host;  ///< by the hash of its name

  [[nodiscard]] int to(std::string_view host) const;
  [[nodiscard]] int most() const;
  bool operator==(const connection_wishes&) const = default;
};

/// The addresses of one interface of a process: a rail for each connection that a peer may have
/// there, or the only rail of a driver without interfaces.
struct nic_address {
  std::vector<rail_address> connections;
  connection_wishes wishes = {};

  bool operator==(const nic_address&) const = default;
};

/// All addresses of one driver, in one value of the key-value exchange.
/// Shape:    a count; for each interface a count, for each connection a length of two bytes and the
///           address; `usual`; a count of two bytes, for each host eight bytes and its number.
[[nodiscard]] std::vector<std::byte> pack_nic_addresses(std::span<const nic_address> nic_addresses);
/// Errors:   `bad_input`: not what `pack_nic_addresses` wrote.
[[nodiscard]] base::result<std::vector<nic_address>> unpack_nic_addresses(
    std::span<const std::byte> bytes);

/// How many connections two processes have between these interfaces: the minimum of what both have
/// and both want. Symmetric.
[[nodiscard]] std::size_t connections_between(const nic_address& ours, std::string_view our_host,
                                              const nic_address& theirs,
                                              std::string_view their_host);

}  // namespace headway::wireup
