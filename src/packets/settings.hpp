#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "packets/strategy.hpp"

namespace headway::packets {

/// Settings of peers and their rails.
struct settings {
  /// Of the job at its start: they share the memory for eager messages.
  std::size_t processes = 1;
  std::int64_t eager_memory_bytes = 256 << 20;      ///< HEADWAY_EAGER_MEMORY
  std::int64_t eager_peer_bytes_max = 8 << 20;      ///< HEADWAY_EAGER_PEER
  std::size_t rails_per_peer = rails_per_peer_max;  ///< HEADWAY_RAILS_PER_PEER
  std::uint64_t cut_off_ns = 600'000'000'000;       ///< HEADWAY_CUT_OFF_MS
  /// For tests: packets that follow each other closely are collected on every rail, and also
  /// without an event thread.
  bool collect_always = false;
  const strategy* how = find_strategy("sampled");  ///< HEADWAY_STRATEGY

  /// From the environment; the caller sets `processes`.
  [[nodiscard]] static settings from_environment();

  /// Eager bytes that a process may have stored at another.
  [[nodiscard]] std::uint32_t credit_bytes() const noexcept {
    const auto part = eager_memory_bytes / static_cast<std::int64_t>(processes);
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(part, 1 << 12, eager_peer_bytes_max));
  }
};

}  // namespace headway::packets
