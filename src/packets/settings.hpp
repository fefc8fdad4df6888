#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "packets/strategy.hpp"

namespace headway::packets {

/// What can be chosen about peers and their rails.
struct settings {
  /// Of the job at its start: so many share the memory for eager messages.
  std::size_t processes = 1;
  std::int64_t eager_memory_bytes = 256 << 20;      ///< HEADWAY_EAGER_MEMORY
  std::int64_t eager_peer_bytes_max = 1 << 20;      ///< HEADWAY_EAGER_PEER
  std::size_t rails_per_peer = rails_per_peer_max;  ///< HEADWAY_RAILS_PER_PEER
  std::uint64_t cut_off_ns = 600'000'000'000;       ///< HEADWAY_CUT_OFF_MS
  bool replay_single = false;                       ///< HEADWAY_REPLAY=always
  /// Packets that follow each other closely are collected whatever a packet costs the rail, and
  /// without an event thread: for tests.
  bool collect_always = false;
  const strategy* how = find_strategy("sampled");  ///< HEADWAY_STRATEGY

  /// What the variables say; `processes` is left to the caller.
  [[nodiscard]] static settings from_environment();

  /// Eager bytes that a process may have stored at another.
  [[nodiscard]] std::uint32_t credit_bytes() const noexcept {
    const auto part = eager_memory_bytes / static_cast<std::int64_t>(processes);
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(part, 1 << 12, eager_peer_bytes_max));
  }
};

}  // namespace headway::packets
