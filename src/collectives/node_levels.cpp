#include "collectives/node_levels.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"

namespace headway::collectives {

std::vector<int> divided(std::span<const int> numbers, int ranks_max) {
  std::unordered_map<int, int> counts, before;
  for (const int node : numbers) ++counts[node];
  std::map<std::pair<int, int>, int> found;
  std::vector<int> made;
  made.reserve(numbers.size());
  for (const int node : numbers) {
    const int all = counts[node], parts = (all + ranks_max - 1) / ranks_max;
    const int part = before[node]++ * parts / all;
    made.push_back(found.try_emplace({node, part}, static_cast<int>(found.size())).first->second);
  }
  return made;
}

node_levels::node_levels(const team& whole, std::span<const int> numbers)
    : node_of_(numbers.size()), ranks_(numbers.size()) {
  HEADWAY_ASSERT(std::ssize(numbers) == whole.size);
  std::unordered_map<int, int> found;
  std::vector<std::size_t> counts;
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
    const auto [at, is_new] = found.try_emplace(numbers[rank], static_cast<int>(counts.size()));
    if (is_new) counts.push_back(0);
    node_of_[rank] = at->second;
    ++counts[static_cast<std::size_t>(at->second)];
  }
  begins_.assign(1, 0);
  for (const auto count : counts) begins_.push_back(begins_.back() + count);
  auto next = begins_;
  for (int rank = 0; rank < whole.size; ++rank)
    ranks_[next[static_cast<std::size_t>(node_of(rank))]++] = rank;
  const auto [fewest, most] = std::ranges::minmax(counts);
  fewest_ = static_cast<int>(fewest);
  most_ = static_cast<int>(most);
  in_order_ = std::ranges::is_sorted(ranks_);
  own_node_ = node_of(whole.rank);
  local_.emplace(whole, ranks_on(own_node_), place_of(whole.rank));
}

int node_levels::place_of(int rank) const noexcept {
  const auto all = ranks_on(node_of(rank));
  return static_cast<int>(std::ranges::lower_bound(all, rank) - all.begin());
}

}  // namespace headway::collectives
