#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi {

/// The location of a process, from the widest to the narrowest shared resource. Equal numbers are
/// the same resource within that of the preceding member; -1: not known.
struct location {
  int node = 0;
  int package = -1;
  int cache = -1;  ///< the last-level one

  auto operator<=>(const location&) const = default;
};

/// The traffic between the ranks of a topology: an undirected graph.
/// Shape:    the neighbours of node i, and the weights of these edges, are at [ends[i - 1],
///           ends[i]).
///           Each edge is stored at both of its ends; edges of a node to itself are left out.
struct traffic {
  struct edge {
    int to;
    std::int64_t weight;
  };
  std::vector<std::size_t> ends;
  std::vector<edge> edges;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ends.size()); }
  [[nodiscard]] std::span<const edge> of(int node) const noexcept;
};

/// One directed edge of the list from which `traffic_of` makes a graph.
struct weighted_edge {
  int from, to;
  std::int64_t weight;
};
[[nodiscard]] traffic traffic_of(int nodes, std::span<const weighted_edge> edges);
[[nodiscard]] traffic traffic_of(const grid& g);
[[nodiscard]] traffic traffic_of(const graph& g);

/// The cost of the traffic if rank i runs at where[order[i]]: the sum of weight times distance,
/// which is 100 between nodes, 10 between packages of a node, 1 between caches of a package.
[[nodiscard]] std::int64_t cost(const traffic& t, std::span<const location> where,
                                std::span<const int> order);

/// Assigns the ranks of a topology to processes so that ranks with much traffic are near each
/// other:
/// result[i] is the process, an index into `where`, that becomes rank i. Only the first `t.size()`
/// processes are used. The result never costs more than the order 0, 1, 2, …, which is returned if
/// nothing is better.
/// Shape:    recursive bisection. The processes, sorted by location, are divided at the widest
///           difference that is nearest to the middle, and the ranks so that little traffic
///           crosses; then both halves, down to processes of one location. A grid is divided across
///           the dimension with the smallest cut, a graph by growing a part along the heaviest
///           edges; exchanges of pairs then improve the division. Deterministic: equal arguments
///           give equal results in all processes.
/// Source:   H. Simon, "Partitioning of unstructured problems for parallel processing", 1991
///           (recursive bisection); B. Kernighan, S. Lin, Bell System Technical Journal 49, 1970.
[[nodiscard]] std::vector<int> place(const grid& g, const traffic& t,
                                     std::span<const location> where);
[[nodiscard]] std::vector<int> place(const traffic& t, std::span<const location> where);

}  // namespace headway::mpi
