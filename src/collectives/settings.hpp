#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headway::collectives {

/// The collective operations: first those between which the choice of an algorithm differs.
enum class collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  scan,
  exscan,
  reduce_scatter,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  reduce_scatter_block,  ///< its algorithms are those of reduce_scatter
  alltoallw,             ///< of alltoallv
  neighbor_alltoallw,    ///< of neighbor_alltoallv
  intercomm_create,      ///< no algorithm is chosen
  unknown,
};
/// How many have algorithms of their own.
inline constexpr std::size_t collective_count =
    static_cast<std::size_t>(collective::neighbor_alltoallv) + 1;

enum class algorithm : std::uint8_t {
  automatic,  ///< as the table says; in a rule: never
  dissemination,
  doubling,
  halving,
  binomial,
  flat,  ///< all with rank 0 or the root
  chain,
  pipeline,
  scatter_ring,
  ring,
  bruck,
  linear,
  pairwise,
  ordered,
  shared,           ///< by an exchange in shared memory (shared_exchange.hpp)
  shared_parts,     ///< the same, each rank a part of the work
  slots,            ///< by slots of shared memory, in one step (shm_collective.hpp)
  two_levels,       ///< inside each node, then between one rank of each (node_levels.hpp)
  two_level_parts,  ///< the same, each rank of a node a part of the work
};
inline constexpr std::size_t algorithm_count =
    static_cast<std::size_t>(algorithm::two_level_parts) + 1;

/// The user's settings.
struct settings {
  std::array<algorithm, collective_count> forced{};  ///< by collective; `automatic`: not forced

  /// Parses "allreduce:ring,bcast:chain". An entry that names no algorithm of its collective is
  /// logged and ignored.
  [[nodiscard]] static settings from_text(std::string_view text);
  /// From HEADWAY_COLLECTIVES.
  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::collectives
