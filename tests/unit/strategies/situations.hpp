#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "packets/send_item.hpp"
#include "packets/strategy.hpp"
#include "sampling/profile.hpp"

namespace headway::packets {

/// Rails to one peer in any state, at least one of them not down.
struct rails_of_a_peer {
  std::deque<sampling::profile> profiles;
  std::vector<rail_state> states;

  rail_state& add(rail_state::condition now, std::uint32_t latency_ns = 10'000,
                  std::uint64_t busy_ns = 0);
  /// The last rail that was added has been measured.
  void measured(double latency_ns, double bytes_per_ns);

  static rails_of_a_peer any(std::mt19937_64& random);
};

/// Packets that wait for a peer.
struct waiting_packets {
  std::deque<send_item> items;
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 16);

  void add(std::size_t payload_bytes, bool urgent = false);
  [[nodiscard]] backlog all() const;
};

}  // namespace headway::packets
