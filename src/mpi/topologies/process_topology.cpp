#include "mpi/topologies/process_topology.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace headway::mpi {

int grid::size() const noexcept {
  int product = 1;
  for (const int each : sizes) product *= each;
  return product;
}

int grid::rank_of(std::span<const int> coordinates) const noexcept {
  HEADWAY_ASSERT(coordinates.size() == sizes.size());
  int rank = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) rank = rank * sizes[d] + coordinates[d];
  return rank;
}

std::vector<int> grid::coordinates_of(int rank) const {
  HEADWAY_ASSERT(0 <= rank && rank < size());
  std::vector<int> coordinates(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; rank /= sizes[d]) coordinates[d] = rank % sizes[d];
  return coordinates;
}

int grid::shifted(int rank, int dimension, std::int64_t by) const {
  HEADWAY_ASSERT(0 <= dimension && dimension < dimensions());
  const auto d = static_cast<std::size_t>(dimension);
  auto coordinates = coordinates_of(rank);
  std::int64_t moved = coordinates[d] + by;
  if (periodic[d]) {
    moved %= sizes[d];
    if (moved < 0) moved += sizes[d];
  } else if (moved < 0 || moved >= sizes[d]) {
    return MPI_PROC_NULL;
  }
  coordinates[d] = static_cast<int>(moved);
  return rank_of(coordinates);
}

std::span<const int> graph::neighbors_of(int node) const noexcept {
  const auto i = static_cast<std::size_t>(node);
  HEADWAY_ASSERT(node >= 0 && i < ends.size());
  const int first = node == 0 ? 0 : ends[i - 1];
  return std::span(edges).subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(ends[i] - first));
}

bool graph::is_symmetric() const {
  std::vector<std::pair<int, int>> forward, backward;
  for (int node = 0; node < static_cast<int>(ends.size()); ++node) {
    for (const int other : neighbors_of(node)) {
      forward.emplace_back(node, other);
      backward.emplace_back(other, node);
    }
  }
  std::ranges::sort(forward);
  std::ranges::sort(backward);
  return forward == backward;
}

process_topology::process_topology(shape made, int rank) : shape_(std::move(made)), rank_(rank) {
  if (const grid* g = as<grid>()) {
    for (int d = 0; d < g->dimensions(); ++d)
      for (const int by : {-1, 1}) neighbors_.push_back(g->shifted(rank, d, by));
  }
  if (const graph* g = as<graph>()) consistent_ = g->is_symmetric();
}

int process_topology::kind() const noexcept {
  static constexpr int kinds[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
  return kinds[shape_.index()];
}

collectives::neighborhood process_topology::neighborhood() const noexcept {
  if (const auto* g = as<graph>()) {
    const auto all = g->neighbors_of(rank_);
    return {.sources = all, .destinations = all};
  }
  if (const auto* g = as<distributed_graph>())
    return {.sources = g->in.ranks, .destinations = g->out.ranks};
  return {.sources = neighbors_, .destinations = neighbors_, .opposite_pairs = true};
}

}  // namespace headway::mpi
