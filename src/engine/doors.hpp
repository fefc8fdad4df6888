#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::engine {

using rail_address = std::vector<std::byte>;

/// How many connections a process wants to have to each other process by one of its doors.
struct connection_wishes {
  static constexpr std::size_t hosts_max = 0xffff;
  int usual = 1;                         ///< to the hosts that are not named
  std::map<std::uint64_t, int> of_host;  ///< by `number_of_host`

  [[nodiscard]] int to(std::string_view host) const;
  [[nodiscard]] int most() const;
  bool operator==(const connection_wishes&) const = default;
};
[[nodiscard]] std::uint64_t number_of_host(std::string_view name) noexcept;

/// A way out of a process as others see it: an interface with one rail for each connection that a
/// peer may have there, or the one rail of a driver without interfaces.
struct door {
  std::vector<rail_address> connections;
  connection_wishes wishes = {};

  bool operator==(const door&) const = default;
};

/// All doors of one driver, in one value of the key-value exchange.
/// Shape:    a count; for each door a count, for each connection a length of two bytes and the
///           address; what is usual; a count of two bytes, for each host eight bytes and its wish.
[[nodiscard]] std::vector<std::byte> pack_doors(std::span<const door> doors);
/// Errors:   `bad_input`: not what `pack_doors` wrote.
[[nodiscard]] base::result<std::vector<door>> unpack_doors(std::span<const std::byte> bytes);

/// How many connections two processes have between these doors: what both have and both want. The
/// same from either side.
[[nodiscard]] std::size_t connections_between(const door& ours, std::string_view our_host,
                                              const door& theirs, std::string_view their_host);

}  // namespace headway::engine
