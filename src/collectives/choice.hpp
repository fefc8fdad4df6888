#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "collectives/settings.hpp"
#include "collectives/tuned_table.hpp"

namespace headway::collectives {

/// What a call provides, which some algorithms need: a set of bits.
enum feature : unsigned {
  no_needs = 0,
  any_order = 1,       ///< the operator commutes
  two_buffers = 2,     ///< not MPI_IN_PLACE
  node_banks = 4,      ///< team::memory.banks, and operands that are the same bytes on all ranks
  shared_slots = 8,    ///< the call is blocking, and its value fits into team::memory.slots
  known_edges = 16,    ///< team::memory.edges
  several_nodes = 32,  ///< team::memory.levels, and operands as for `node_banks`
  equal_nodes = 64,    ///< the same, and each node has as many ranks as the others
  power_of_two = 128   ///< of ranks
};

/// What the choice of an algorithm depends on: equal on all ranks.
struct question {
  collective what;
  std::int64_t bytes = 0;  ///< of the whole message, or of one block where each rank has one
  int ranks = 1;
  bool oversubscribed = false;  ///< more ranks than processors on some node
  unsigned has = no_needs;      ///< features
};

/// A row of the table: it is chosen if the call has what it needs and every bound holds.
struct rule {
  collective what;
  algorithm use;
  std::int64_t bytes_max;  ///< `only_forced`: only if the user requests it
  int ranks_max;
  enum class load : std::uint8_t { any, yes, no } where;
  unsigned needs;        ///< features
  const char* measured;  ///< where, or why it is a guess

  static constexpr std::int64_t only_forced = -1;
  [[nodiscard]] constexpr bool serves(const question& q) const noexcept {
    return (needs & ~q.has) == 0;
  }
};

/// The only place where an algorithm is chosen: the one that the user's settings name, if it suits
/// this call; else the quickest that suits it of those that `headway tune` has measured for these
/// ranks (null: nothing); else the first row that fits. The last row of a collective always fits.
[[nodiscard]] algorithm choose(const question& q, const settings& user = {},
                               const tuned_shape* measured = nullptr) noexcept;
/// The table's rows for a collective, in order: every algorithm that there is for it.
[[nodiscard]] std::span<const rule> rules(collective c) noexcept;
[[nodiscard]] const char* name_of(algorithm a) noexcept;
/// In lower case; not of `unknown`.
[[nodiscard]] const char* name_of(collective c) noexcept;
/// One that has algorithms of its own. Nothing: none has that name.
[[nodiscard]] std::optional<collective> collective_named(std::string_view name) noexcept;
/// The same; `automatic` is not one of them.
[[nodiscard]] std::optional<algorithm> algorithm_named(std::string_view name) noexcept;
/// Whether some row of a collective uses the algorithm.
[[nodiscard]] bool has_algorithm(collective c, algorithm a) noexcept;

}  // namespace headway::collectives
