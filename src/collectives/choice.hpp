#pragma once

#include <cstdint>
#include <span>

namespace headway::collectives {

enum class collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  scan,
  reduce_scatter,
};

enum class algorithm : std::uint8_t {
  automatic,  ///< in a rule: never
  dissemination,
  doubling,
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
  direct,  ///< in the memory of the others
};

/// What the choice of an algorithm depends on. All ranks ask the same question.
struct question {
  collective what;
  std::int64_t bytes = 0;  ///< of the whole message, or of one block where each rank has one
  int ranks = 1;
  bool crowded = false;  ///< more ranks than processors on some node
  bool commutative = true;
  bool direct = false;  ///< the ranks can touch each other's memory, and the data there as it is
};

/// One row of the table: it serves when every bound holds.
struct rule {
  collective what;
  algorithm use;
  std::int64_t bytes_max;
  int ranks_max;
  enum class crowd : std::uint8_t { any, yes, no } where;
  bool any_order;        ///< serves commutative operators only
  const char* measured;  ///< where, or why it is a guess
};

/// The first rule that fits. Every collective has a last rule that always does.
[[nodiscard]] algorithm choose(const question& q) noexcept;
[[nodiscard]] std::span<const rule> rules() noexcept;
[[nodiscard]] const char* name_of(algorithm a) noexcept;
[[nodiscard]] const char* name_of(collective c) noexcept;

}  // namespace headway::collectives
