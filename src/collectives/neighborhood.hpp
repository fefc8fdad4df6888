#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headway::collectives {

/// The ranks that one rank exchanges blocks with, in the order of the blocks. Negative: there is
/// no neighbour, and its block is neither sent nor written. A rank may come several times, and may
/// be this one: what it sends k-th to this rank is the k-th block of it here.
struct neighborhood {
  std::span<const int> sources, destinations;
  /// The neighbours 2d and 2d + 1 lie in opposite directions, on all ranks alike: what leaves for
  /// one of the two arrives from the other. That matters where both are the same rank.
  bool opposite_pairs = false;

  /// The source that the k-th block is received from, in the order in which the blocks of one
  /// source are matched with those that it sends.
  [[nodiscard]] std::size_t matched(std::size_t k) const noexcept {
    return opposite_pairs ? k ^ 1 : k;
  }
};

/// The other end of each edge that arrives at a rank: which of its source's blocks comes from
/// there, and how many blocks the source has. A rank finds it in the sources' lists.
struct edge_end {
  int block = 0;
  int blocks = 0;
};
/// By source. Of a source without a rank it says nothing.
using edge_ends = std::vector<edge_end>;

/// Finds them. `destinations_of(rank)`: that rank's list. Nothing if the lists of sources and of
/// destinations contradict each other.
template <class Destinations>
[[nodiscard]] std::optional<edge_ends> match_edges(const neighborhood& n, int own_rank, int ranks,
                                                   Destinations&& destinations_of) {
  edge_ends ends(n.sources.size());
  std::vector<std::size_t> seen(static_cast<std::size_t>(ranks));  // of each rank's list
  for (std::size_t k = 0; k < n.sources.size(); ++k) {
    const int source = n.sources[n.matched(k)];
    if (source < 0) continue;
    const std::span<const int> list = destinations_of(source);
    auto& next = seen[static_cast<std::size_t>(source)];
    while (next < list.size() && list[next] != own_rank) ++next;
    if (next == list.size()) return std::nullopt;
    ends[n.matched(k)] = {static_cast<int>(next++), static_cast<int>(list.size())};
  }
  return ends;
}

}  // namespace headway::collectives
