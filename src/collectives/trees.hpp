#pragma once

#include <cstdint>

namespace headway::collectives {

/// Trees of ranks with rank 0 at the top. In each, a child and all ranks below it are consecutive
/// and begin with the child, so that a reduction towards rank 0 keeps the order of ranks.
enum class tree : std::uint8_t {
  binomial,  ///< depth log2 n
  flat,      ///< all are children of rank 0
  chain,     ///< each is the child of its predecessor
};

[[nodiscard]] constexpr int parent_of(tree shape, int rank) noexcept {
  switch (shape) {
    case tree::binomial:
      return rank & (rank - 1);
    case tree::flat:
      return 0;
    case tree::chain:
      return rank - 1;
  }
  return 0;
}

/// Calls `visit(child)` for each child of `rank` among `size` ranks, in ascending order.
template <class Visit>
void each_child(tree shape, int rank, int size, const Visit& visit) {
  switch (shape) {
    case tree::binomial:
      for (int bit = 1; rank + bit < size && (rank & bit) == 0; bit <<= 1) visit(rank + bit);
      break;
    case tree::flat:
      for (int child = 1; rank == 0 && child < size; ++child) visit(child);
      break;
    case tree::chain:
      if (rank + 1 < size) visit(rank + 1);
      break;
  }
}

/// The same in descending order: the child with the largest subtree comes first.
template <class Visit>
void each_child_downwards(tree shape, int rank, int size, const Visit& visit) {
  if (shape != tree::binomial) return each_child(shape, rank, size, visit);
  const int lowest = rank == 0 ? size : rank & -rank;
  int bit = 1;
  while (bit < lowest && rank + bit < size) bit <<= 1;
  for (bit >>= 1; bit > 0; bit >>= 1) visit(rank + bit);
}

}  // namespace headway::collectives
