#pragma once

#include <cstdint>

#include "sampling/curve.hpp"

namespace headway::sampling {

/// The known times of a rail between two processes.
/// Threads:  a value; the caller serializes.
struct profile {
  curve piece = curve::straight(20'000, 1);  ///< put into exposed memory, one way
  curve eager = curve::straight(10'000, 1);  ///< in a packet, copied at both ends, one way
  curve cost = curve::straight(1'000, 8);    ///< processor time of the sender for a piece
  int connections = 1;  ///< to the peer over the rail's interface: how many pay

  /// An estimate without a measurement: the order of magnitude.
  [[nodiscard]] static profile guessed(double latency_ns, double bytes_per_ns) noexcept;

  /// The size from which announcing a message and putting it into its place is faster than copying
  /// it: its two control packets cost less than the copies. At most `eager_bytes_max`, the limit of
  /// packets.
  [[nodiscard]] std::uint64_t rendezvous_bytes(std::uint64_t eager_bytes_max) const noexcept;
};

/// The times of pieces have changed by more than a quarter: worth storing.
[[nodiscard]] bool differ(const profile& one, const profile& other) noexcept;

}  // namespace headway::sampling
