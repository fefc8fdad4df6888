#include "collectives/tuned_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.hpp"
#include "base/text_lines.hpp"
#include "collectives/choice.hpp"

namespace headway::collectives {
namespace {

using base::is_one_line;
using base::number_in;
using base::one_line;
using base::take_word;

constexpr std::string_view first_line = "headway collectives 1";
constexpr std::size_t rows_max = collective_count * 32;  // of a shape

/// "4 ranks 2 processors at 1764000000"
std::optional<tuned_shape> read_shape(std::string_view text) {
  const auto ranks = number_in<int>(take_word(text));
  if (take_word(text) != "ranks") return std::nullopt;
  const auto processors = number_in<int>(take_word(text));
  if (take_word(text) != "processors" || take_word(text) != "at") return std::nullopt;
  const auto at = number_in<std::uint64_t>(text);
  if (!ranks || *ranks < 2 || *ranks > tuned_shape::ranks_max || !processors || *processors < 1 ||
      !at)
    return std::nullopt;
  return tuned_shape{.ranks = *ranks, .processors = *processors, .measured_at = *at, .rows = {}};
}

/// "allreduce 181 slots shared doubling"
std::optional<tuned_row> read_row(std::string_view text) {
  const auto what = collective_named(take_word(text));
  const auto bytes = number_in<std::int64_t>(take_word(text));
  if (!what || !bytes || *bytes < 0 || text.empty()) return std::nullopt;
  tuned_row row{.what = *what, .bytes_max = *bytes};
  for (std::size_t i = 0; !text.empty(); ++i) {
    const auto use = algorithm_named(take_word(text));
    const bool sound = use && i < row.order.size() && has_algorithm(*what, *use) &&
                       std::ranges::find(row.order, *use) == row.order.end();
    if (!sound) return std::nullopt;
    row.order[i] = *use;
  }
  return row;
}

bool comes_after(const tuned_row& row, const tuned_shape& shape) noexcept {
  if (shape.rows.empty()) return true;
  const auto& last = shape.rows.back();
  return row.what > last.what || (row.what == last.what && row.bytes_max > last.bytes_max);
}

}  // namespace

std::span<const tuned_row> tuned_shape::rows_of(collective what) const noexcept {
  const auto found = std::ranges::equal_range(rows, what, {}, &tuned_row::what);
  return {found.begin(), found.end()};
}

const tuned_shape* tuned_table::shape_of(int ranks, int processors) const noexcept {
  const auto found = std::ranges::find_if(
      shapes, [&](const tuned_shape& s) { return s.ranks == ranks && s.processors == processors; });
  return found == shapes.end() ? nullptr : &*found;
}

void tuned_table::put(tuned_shape made) {
  std::erase_if(shapes, [&](const tuned_shape& s) {
    return s.ranks == made.ranks && s.processors == made.processors;
  });
  if (shapes.size() == shapes_max)
    shapes.erase(std::ranges::min_element(shapes, {}, &tuned_shape::measured_at));
  shapes.push_back(std::move(made));
  std::ranges::sort(shapes, {},
                    [](const tuned_shape& s) { return std::pair(s.ranks, s.processors); });
}

std::string text_of(const tuned_table& t) {
  auto text = fmt::format("{}\nversion {}\nmachine {}\n", first_line, one_line(t.version),
                          one_line(t.machine));
  for (const auto& shape : t.shapes) {
    text += fmt::format("shape {} ranks {} processors at {}\n", shape.ranks, shape.processors,
                        shape.measured_at);
    for (const auto& row : shape.rows) {
      text += fmt::format("row {} {}", name_of(row.what), row.bytes_max);
      for (const auto use : row.order)
        if (use != algorithm::automatic) text += fmt::format(" {}", name_of(use));
      text += '\n';
    }
  }
  return base::with_sum(std::move(text));
}

base::result<tuned_table> tuned_table_of(std::string_view text) {
  const auto wrong = [](std::string what) {
    return base::failed(base::fault_kind::bad_input, std::move(what));
  };
  const auto whole = base::without_sum(text);
  if (!whole) return std::unexpected(whole.error());
  base::line_reader lines(*whole);
  if (lines.line(first_line) != "") return wrong("not a table of this version");
  tuned_table t;
  for (const auto& [name, target] : {std::pair("version", &t.version), {"machine", &t.machine}}) {
    const auto found = lines.line(name);
    if (!found || !is_one_line(*found))
      return wrong(fmt::format("line {}: no {}", lines.number(), name));
    *target = *found;
  }
  while (!lines.at_end()) {
    const auto line = lines.line("shape");
    auto shape = line ? read_shape(*line) : std::nullopt;
    const bool ordered =
        shape && (t.shapes.empty() || std::pair(t.shapes.back().ranks, t.shapes.back().processors) <
                                          std::pair(shape->ranks, shape->processors));
    if (!ordered || t.shapes.size() == tuned_table::shapes_max)
      return wrong(fmt::format("line {}: no shape of a job", lines.number()));
    while (lines.next_is("row")) {
      const auto words = lines.line("row");  // none if the line does not end
      const auto row = words ? read_row(*words) : std::nullopt;
      if (!row || !comes_after(*row, *shape) || shape->rows.size() == rows_max)
        return wrong(fmt::format("line {}: no row", lines.number()));
      shape->rows.push_back(*row);
    }
    t.shapes.push_back(*std::move(shape));
  }
  return t;
}

std::uint64_t built_in_table_sum() noexcept {
  std::uint64_t sum = base::hash_of("");
  const auto add = [&](std::uint64_t value) {
    sum = base::hash_of({reinterpret_cast<const char*>(&sum), sizeof sum}) ^ value;
  };
  for (std::size_t c = 0; c < collective_count; ++c)
    for (const rule& r : rules(static_cast<collective>(c))) {
      add(base::hash_of(name_of(r.what)));
      add(base::hash_of(name_of(r.use)));
      add(static_cast<std::uint64_t>(r.bytes_max));
      add(static_cast<std::uint64_t>(r.ranks_max));
      add(static_cast<std::uint64_t>(r.where));
      add(r.needs);
    }
  return sum;
}

}  // namespace headway::collectives
