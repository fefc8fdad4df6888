#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi {

/// Where a process runs, from the widest to the narrowest thing that processes share. Equal numbers
/// are the same thing within that of the member before; -1: not known.
struct location {
  int node = 0;
  int package = -1;
  int cache = -1;  ///< the last-level one

  auto operator<=>(const location&) const = default;
};

/// What the ranks of a topology have to say to each other: an undirected graph.
/// Shape: node i's neighbours and the weights of those edges are at [ends[i - 1], ends[i]). Each
///        edge is there from both of its ends; edges of a node to itself are not.
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

/// One directed edge, of a list that `traffic_of` makes a graph of.
struct weighted_edge {
  int from, to;
  std::int64_t weight;
};
[[nodiscard]] traffic traffic_of(int nodes, std::span<const weighted_edge> edges);
[[nodiscard]] traffic traffic_of(const grid& g);
[[nodiscard]] traffic traffic_of(const graph& g);

/// What the traffic costs if rank i runs at where[order[i]]: the sum of weight times distance,
/// which is 100 between nodes, 10 between packages of a node, 1 between caches of a package.
[[nodiscard]] std::int64_t cost(const traffic& t, std::span<const location> where,
                                std::span<const int> order);

/// Gives the ranks of a topology to processes so that those that talk much are near each other:
/// result[i] is the process, an index into `where`, that becomes rank i. Only the first
/// `t.size()` processes are used. Never costs more than the order 0, 1, 2, …, which is the answer
/// where nothing is gained.
/// Shape: the processes, sorted by location, are divided in two at the widest difference that is
///        nearest to the middle; the ranks are divided to match so that little traffic crosses;
///        and so on in both halves, down to processes of one location. For a grid the division is
///        across the dimension that cuts least, for a graph a part grows along the heaviest edges;
///        either is then improved by exchanging pairs. Deterministic: all processes that know the
///        same compute the same.
/// Source: H. Simon, "Partitioning of unstructured problems for parallel processing", 1991
///         (recursive bisection); B. Kernighan, S. Lin, Bell System Technical Journal 49, 1970.
[[nodiscard]] std::vector<int> place(const grid& g, const traffic& t,
                                     std::span<const location> where);
[[nodiscard]] std::vector<int> place(const traffic& t, std::span<const location> where);

}  // namespace headway::mpi
