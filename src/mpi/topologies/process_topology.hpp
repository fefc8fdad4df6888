#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "collectives/neighbors.hpp"

namespace headway::mpi {

/// A Cartesian topology. Ranks count row by row: the last coordinate varies fastest.
struct grid {
  std::vector<int> sizes;      ///< of each dimension, at least 1; none: a single process
  std::vector<char> periodic;  ///< of each dimension: whether it is a ring

  [[nodiscard]] int dimensions() const noexcept { return static_cast<int>(sizes.size()); }
  /// The number of processes.
  [[nodiscard]] int size() const noexcept;
  /// The rank of a process. The coordinates are in range.
  [[nodiscard]] int rank_of(std::span<const int> coordinates) const noexcept;
  [[nodiscard]] std::vector<int> coordinates_of(int rank) const;
  /// The rank that is `by` steps after `rank` in a dimension; MPI_PROC_NULL beyond its end.
  [[nodiscard]] int shifted(int rank, int dimension, std::int64_t by) const;
};

/// The topology of MPI_Graph_create, which every process knows as a whole.
struct graph {
  std::vector<int> ends;   ///< node i's neighbours end before edges[ends[i]]
  std::vector<int> edges;  ///< the neighbours of node 0, then of node 1, …

  [[nodiscard]] std::span<const int> neighbors_of(int node) const noexcept;
  /// Whether each edge occurs as often as its reverse.
  [[nodiscard]] bool is_symmetric() const;
};

/// One process's part of a graph: MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent.
struct distributed_graph {
  /// Edges of this process; `weights` has as many entries, or none if the graph has no weights.
  struct edge_list {
    std::vector<int> ranks, weights;
  };
  edge_list in, out;
  bool weighted = false;
};

/// The topology of a communicator, as one of its processes sees it.
/// Threads:  immutable: any. Communicators share it with their duplicates.
class process_topology {
 public:
  using shape = std::variant<grid, graph, distributed_graph>;
  process_topology(shape made, int rank);

  /// The topology if it has this shape, else null.
  template <class Shape>
  [[nodiscard]] const Shape* as() const noexcept {
    return std::get_if<Shape>(&shape_);
  }
  /// MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
  [[nodiscard]] int kind() const noexcept;
  /// The processes that neighbourhood collectives exchange data with. Refers to this object.
  [[nodiscard]] collectives::neighborhood neighborhood() const noexcept;
  /// Whether every message of a neighbourhood collective has a receiver. False, in all processes,
  /// only for a graph of MPI_Graph_create whose edges lack their reverses.
  [[nodiscard]] bool is_consistent() const noexcept { return consistent_; }

 private:
  shape shape_;
  std::vector<int> neighbors_;  // of a grid: by dimension, the negative direction first
  int rank_;
  bool consistent_ = true;
};

}  // namespace headway::mpi
