#pragma once

#include <atomic>
#include <cstdint>

namespace headway::packets {

/// Counters of peers with several rails. Each is exact, but not all are of the same moment.
/// Threads:  any; relaxed, they carry no data.
struct statistics {
  using count = std::atomic<std::uint64_t>;
  count cut{0};               ///< packets that left in parts, over several rails at once
  count replays{0};           ///< frames sent again after the loss of a rail
  count duplicates{0};        ///< frames that came again and were dropped
  count early{0};             ///< frames that came before their turn
  count pieces{0};            ///< of large messages, requested
  count pieces_again{0};      ///< requested again on another rail
  count acknowledgements{0};  ///< sent without data
  count questions{0};         ///< heartbeats
  count rail_proofs{0};       ///< rails on which the peer has answered for the first time
  count rail_losses{0};
  count rail_returns{0};

  static void add(count& c, std::uint64_t n = 1) noexcept {
    c.fetch_add(n, std::memory_order_relaxed);
  }
  /// The same for a count that one thread writes at a time.
  static void add_alone(count& c, std::uint64_t n = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

/// Counters of one rail, over all peers that have it and others.
struct lane_use {
  std::uint64_t frames = 0;   ///< of data sent, the repeated ones not counted
  std::uint64_t packets = 0;  ///< in these frames: packets / frames is what aggregation gains
  std::uint64_t losses = 0;
  std::uint64_t returns = 0;
};

}  // namespace headway::packets
