#include "tools/mpiexec/rank_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <string>

namespace headway::mpiexec {
namespace {

std::optional<int> number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

base::result<rank_set> rank_set::parse(std::string_view text) {
  if (text == "all") return all();
  if (text == "none") return rank_set();
  rank_set made;
  for (const auto part : text | std::views::split(',')) {
    const std::string_view word(part);
    const auto dash = word.find('-');
    const auto first = number(word.substr(0, dash));
    const auto last = dash == word.npos ? first : number(word.substr(dash + 1));
    if (!first || !last || *first > *last) return base::failed(base::fault_kind::bad_input, {});
    made.ranges_.emplace_back(*first, *last);
  }
  if (made.ranges_.empty()) return base::failed(base::fault_kind::bad_input, {});
  return made;
}

bool rank_set::has(int rank) const noexcept {
  return std::ranges::any_of(
      ranges_, [rank](const auto& one) { return one.first <= rank && rank <= one.second; });
}

std::string rank_set::text() const {
  if (ranges_.empty()) return "none";
  if (is_all()) return "all";
  std::vector<std::string> parts;
  for (const auto& [first, last] : ranges_)
    parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace headway::mpiexec
