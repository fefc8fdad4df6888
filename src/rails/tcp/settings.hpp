#pragma once

#include <cstdint>

namespace headway::rails::tcp {

/// The user's settings of TCP rails. Their units, bounds and reasons are in tunables.cpp.
struct settings {
  std::uint64_t refused_ns = 100'000'000;     ///< HEADWAY_TCP_REFUSED_MS
  std::uint64_t connect_ns = 20'000'000'000;  ///< HEADWAY_TCP_CONNECT_MS
  std::uint64_t dead_ns = 600'000'000'000;    ///< HEADWAY_TCP_DEAD_MS
  std::uint32_t segment_bytes = 1 << 20;      ///< HEADWAY_TCP_SEGMENT
  int low_water_bytes = 1 << 20;              ///< HEADWAY_TCP_LOW_WATER
  int send_buffer_bytes = 0;                  ///< HEADWAY_TCP_SNDBUF; 0: the kernel sizes it
  int receive_buffer_bytes = 0;               ///< HEADWAY_TCP_RCVBUF; the same
  int unsent_bytes_max = 0;                   ///< HEADWAY_TCP_UNSENT; 0: the kernel's
  bool unpaced = true;                        ///< HEADWAY_TCP_PACING: auto
  bool encryption = false;                    ///< HEADWAY_TCP_ENCRYPTION
  bool resume = true;                         ///< HEADWAY_TCP_RESUME

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::rails::tcp
