#pragma once

#include <cstdint>

#include "sampling/curve.hpp"

namespace headway::sampling {

/// What is known about a rail between two processes.
/// Threads: a value; its owner's.
struct profile {
  curve piece = curve::straight(20'000, 1);  ///< put into exposed memory, one way
  curve eager = curve::straight(10'000, 1);  ///< in a packet, copied at both ends, one way
  curve cost = curve::straight(1'000, 8);    ///< processor time of the sender for a piece
  int connections = 1;  ///< to the peer over the rail's interface, that were found to pay

  /// What can be said without a measurement: an order of size.
  [[nodiscard]] static profile guessed(double latency_ns, double bytes_per_ns) noexcept;

  /// From so many bytes on, announcing a message and sending it into its place is quicker than
  /// copying it: its two packets of control cost less than the copies. At most `eager_bytes_max`,
  /// which packets cannot exceed anyhow.
  [[nodiscard]] std::uint64_t rendezvous_bytes(std::uint64_t eager_bytes_max) const noexcept;
};

/// What pieces take has changed by more than a quarter: worth a new file.
[[nodiscard]] bool differ(const profile& one, const profile& other) noexcept;

}  // namespace headway::sampling
