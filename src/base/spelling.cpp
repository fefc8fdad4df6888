#include "base/spelling.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace headway::base {
namespace {

/// The number of letters to change, add, leave out or exchange with the next one that make `to` of
/// `from` (optimal string alignment). Three rows of the table are kept.
std::size_t distance(std::string_view from, std::string_view to) {
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(to.size() + 1);
  auto &before = rows[0], &above = rows[1], &row = rows[2];
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t wrong = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + wrong});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[to.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t wrong_max = 3;
  std::size_t least = std::clamp<std::size_t>(word.size() / 3, 1, wrong_max) + 1;
  std::string_view nearest;
  for (const auto candidate : words) {
    const auto wrong = distance(word, candidate);
    if (wrong >= least || wrong >= std::min(word.size(), candidate.size())) continue;
    least = wrong;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace headway::base
