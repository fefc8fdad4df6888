#pragma once

#include <cstdint>

namespace headway::rails::tcp {

/// The user's settings of TCP rails, read from the environment once for each driver.
/// The entries themselves (names, units, bounds, reasons) are in tunables.cpp.
struct settings {
  std::uint64_t refused_ns = 0;     ///< HEADWAY_TCP_REFUSED_MS
  std::uint64_t connect_ns = 0;     ///< HEADWAY_TCP_CONNECT_MS
  std::uint64_t dead_ns = 0;        ///< HEADWAY_TCP_DEAD_MS
  std::uint32_t segment_bytes = 0;  ///< HEADWAY_TCP_SEGMENT
  int low_water_bytes = 0;          ///< HEADWAY_TCP_LOW_WATER
  int send_buffer_bytes = 0;        ///< HEADWAY_TCP_SNDBUF
  int receive_buffer_bytes = 0;     ///< HEADWAY_TCP_RCVBUF
  int unsent_bytes_max = 0;         ///< HEADWAY_TCP_UNSENT

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::rails::tcp
