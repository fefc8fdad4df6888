#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collectives/team.hpp"

namespace headway::collectives {

/// Numbers as `node_levels` takes them in which no node has more than `ranks_max` ranks: where
/// `numbers` has more for one, they are divided evenly.
[[nodiscard]] std::vector<int> divided(std::span<const int> numbers, int ranks_max);

/// The ranks of a team by the nodes on which they run: for algorithms of two levels, inside the
/// nodes and between them.
/// Shape:    nodes are numbered in the order of their first ranks; the ranks of a node ascend.
/// Threads:  any; what `local()` has in memory changes as that of any team.
class node_levels {
 public:
  /// `numbers[i]`: of rank i's node; equal on one node, else arbitrary. `whole` must outlive this.
  node_levels(const team& whole, std::span<const int> numbers);
  node_levels(const node_levels&) = delete;
  node_levels& operator=(const node_levels&) = delete;

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(begins_.size()) - 1; }
  [[nodiscard]] int node_of(int rank) const noexcept {
    return node_of_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int own_node() const noexcept { return own_node_; }
  [[nodiscard]] std::span<const int> ranks_on(int node) const noexcept {
    return std::span(ranks_).subspan(begin(node), begin(node + 1) - begin(node));
  }
  /// Those of all nodes, one node behind the other.
  [[nodiscard]] std::span<const int> ranks() const noexcept { return ranks_; }
  /// Among the ranks of its node.
  [[nodiscard]] int place_of(int rank) const noexcept;

  /// The ranks of each node follow each other.
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }
  /// Of the nodes with the fewest and the most of them.
  [[nodiscard]] int fewest_ranks() const noexcept { return fewest_; }
  [[nodiscard]] int most_ranks() const noexcept { return most_; }
  /// Equally many on each node.
  [[nodiscard]] bool even() const noexcept { return fewest_ == most_; }

  /// The ranks of this rank's node.
  [[nodiscard]] team& local() noexcept { return *local_; }

 private:
  [[nodiscard]] std::size_t begin(int node) const noexcept {
    return begins_[static_cast<std::size_t>(node)];
  }

  std::vector<int> node_of_;         // of each rank
  std::vector<int> ranks_;           // by node
  std::vector<std::size_t> begins_;  // of each node in `ranks_`, and the end
  int own_node_ = 0, fewest_ = 0, most_ = 0;
  bool in_order_ = false;
  std::optional<team> local_;
};

}  // namespace headway::collectives
