#pragma once

#include <cstdint>
#include <string>

namespace headway::rails::shm {

/// How large payloads are copied.
enum class large_way : std::uint8_t {
  automatic,  ///< whatever is faster, by the end that is awake
  ring,       ///< through a ring of buffers, copied by both ends at once
  kernel,     ///< by the kernel from one memory to the other, both ends half of it
  get,        ///< the same, all of it by the receiver
};

/// The user's settings of shared memory. Their units, bounds and reasons are in tunables.cpp.
struct settings {
  std::string directory = "/dev/shm";      ///< HEADWAY_SHM_DIR
  std::uint32_t ring_bytes = 0;            ///< HEADWAY_SHM_RING; 0: by the number of processes
  std::uint32_t piece_bytes = 0;           ///< HEADWAY_SHM_PIECE; the same
  std::uint32_t piece_count = 0;           ///< HEADWAY_SHM_PIECES; the same
  large_way large = large_way::automatic;  ///< HEADWAY_SHM_LARGE

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::rails::shm
