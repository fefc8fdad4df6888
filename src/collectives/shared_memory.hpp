#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headway::collectives {

class shm_collective;

/// Copies between the memory of this rank and that of the others, without their help.
/// Threads:  any.
/// Progress: takes as long as the copy.
/// Errors:   false, and some of it may have been copied: the rank is dead, or has no such memory.
class peer_copies {
 public:
  [[nodiscard]] virtual bool read(int rank, std::uint64_t from,
                                  std::span<std::byte> to) noexcept = 0;
  [[nodiscard]] virtual bool write(int rank, std::uint64_t to,
                                   std::span<const std::byte> from) noexcept = 0;

 protected:
  ~peer_copies() = default;
};

/// What the ranks of a team can do in each other's memory: optional. Both are null until all ranks
/// have agreed that every rank has them (node_memory.hpp).
struct shared_memory {
  peer_copies* copies = nullptr;    ///< large values: each rank reads and writes buffers of all
  shm_collective* slots = nullptr;  ///< small values: each rank publishes its own, and reads all
};

}  // namespace headway::collectives
