#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/neighborhood.hpp"

namespace headway::collectives {

class node_levels;
class shared_banks;
class shm_collective;

/// Copies out of the memory of other ranks, without their help.
/// Threads:  any.
/// Progress: takes as long as the copy.
/// Errors:   false, and some of it may have been copied: the rank is dead, or has no such memory.
class peer_copies {
 public:
  [[nodiscard]] virtual bool read(int rank, std::uint64_t from,
                                  std::span<std::byte> to) noexcept = 0;

 protected:
  ~peer_copies() = default;
};

/// What the ranks of a team can do in each other's memory: an optional capability of a team. All
/// parts are null until all ranks have agreed that every rank has them (node_memory.hpp).
struct shared_memory {
  peer_copies* copies = nullptr;     ///< long streams: each rank reads buffers of others
  bool lends = false;                ///< that is faster than copying through `banks`
  shm_collective* slots = nullptr;   ///< small values: each rank shows its own, and reads all
  shared_banks* banks = nullptr;     ///< streams of any length: see shared_exchange.hpp
  const edge_ends* edges = nullptr;  ///< with `banks`: of the communicator's neighbourhood
  /// Of ranks on several nodes, in place of all others: those of each node have banks together.
  node_levels* levels = nullptr;
};

}  // namespace headway::collectives
