#pragma once

#include <span>

#include "collectives/buffers.hpp"
#include "collectives/schedule.hpp"

namespace headway::collectives {

/// The ranks that one rank exchanges blocks with, in the order of the blocks. Negative: there is
/// no neighbour, and its block is neither sent nor written. A rank may come several times, and may
/// be this one: what it sends k-th to this rank is the k-th block of it here.
struct neighborhood {
  std::span<const int> sources, destinations;
  /// The neighbours 2d and 2d + 1 lie in opposite directions, on all ranks alike: what leaves for
  /// one of the two arrives from the other. That matters where both are the same rank.
  bool opposite_pairs = false;
};

// Collectives between neighbours (MPI-5.0 section 8.6): all messages are under way together. Used
// like those of collectives.hpp.

/// `mine` goes to every destination; block i of `all` comes from source i.
void neighbor_allgather(schedule& s, const neighborhood& n, const block& mine, const blocks& all);
/// Block i of `from` goes to destination i, block i of `to` comes from source i.
void neighbor_alltoall(schedule& s, const neighborhood& n, const blocks& from, const blocks& to);

}  // namespace headway::collectives
