// The counters of a process as text, for people and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"
#include "watch/statistics.hpp"

namespace headway::watch {
namespace {

std::string_view text_of(const auto& array) { return {array.data()}; }

}  // namespace

std::string short_number(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> factors{"", "k", "M", "G", "T"};
  std::size_t power = 0;
  while (value >= 999.5 && power + 1 < factors.size()) {
    value /= 1000;
    ++power;
  }
  const int decimals = power == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const auto tail = fmt::format("{}{}", factors[power], unit);
  return fmt::format("{:.{}f}{}{}", value, decimals, tail.empty() ? "" : " ", tail);
}

namespace {

std::string short_time(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value >= 999.5e6) return fmt::format("{:.2f} s", value / 1e9);
  if (value >= 999.5e3) return fmt::format("{:.2f} ms", value / 1e6);
  if (value >= 999.5) return fmt::format("{:.2f} us", value / 1e3);
  return fmt::format("{} ns", ns);
}

}  // namespace

std::string cell_text(const page_cell& cell) {
  const auto name = text_of(cell.name);
  if (name.ends_with("_ns")) return short_time(cell.value);
  if (name.ends_with("_milli")) return fmt::format("{:.2f}", static_cast<double>(cell.value) / 1e3);
  const bool bytes = name.starts_with("bytes");
  return short_number(static_cast<double>(cell.value), bytes ? "B" : "");
}

/// The unit stands at the value.
std::string heading(std::string_view name) {
  for (const std::string_view unit : {"_ns", "_milli"})
    if (name.ends_with(unit)) name.remove_suffix(unit.size());
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

namespace {

void add_table(std::string& text, const page_image& image, std::string_view kind) {
  const auto rows = image.of(kind);
  if (rows.empty()) return;
  text += fmt::format("\n{:<24}", kind);
  const auto& first = *rows.front();
  for (std::size_t i = 0; i < first.cell_count; ++i)
    text += fmt::format("{:>14}", heading(text_of(first.cells[i].name)));
  text += '\n';
  for (const auto* row : rows) {
    text += fmt::format("{:<24}", text_of(row->name));
    for (std::size_t i = 0; i < row->cell_count; ++i)
      text += fmt::format("{:>14}", cell_text(row->cells[i]));
    text += '\n';
  }
}

std::string overlap_text(const page_image& image) {
  const auto rows = image.of("overlap");
  if (rows.empty()) return {};
  const auto& row = *rows.front();
  const auto bytes = row.at("bytes_moved");
  const auto share =
      bytes == 0 ? 0
                 : 100 * static_cast<double>(row.at("bytes_overlap")) / static_cast<double>(bytes);
  return fmt::format("overlap: {:.1f} % of {} moved while no call waited; {} spent waiting\n",
                     share, short_number(static_cast<double>(bytes), "B"),
                     short_time(row.at("waited_ns")));
}

void add_row(base::json_writer& out, const page_row& row) {
  out.member("kind", text_of(row.kind));
  out.member("name", text_of(row.name));
  for (std::size_t i = 0; i < row.cell_count; ++i)
    out.member(text_of(row.cells[i].name), row.cells[i].value);
}

}  // namespace

std::string statistics_text(const page_image& image) {
  const auto rank = image.size == 0 ? "" : fmt::format("rank {} of {}, ", image.rank, image.size);
  auto text = fmt::format("headway: {}{} (process {}), after {}\n", rank, text_of(image.program),
                          image.pid, short_time(image.written_ns - image.began_ns));
  text += overlap_text(image);
  for (const auto* kind : {"rail", "bundle", "windows", "point", "queue", "thread"})
    add_table(text, image, kind);
  if (image.rows_left_out != 0) text += fmt::format("and {} more\n", image.rows_left_out);
  return text;
}

std::string statistics_json(const page_image& image) {
  base::json_writer out;
  out.object([&] {
    out.member("process", image.pid);
    out.member("rank", image.rank);
    out.member("size", image.size);
    out.member("program", text_of(image.program));
    out.member("age_ns", image.written_ns - image.began_ns);
    out.name("rows");
    out.array(std::span(image.rows).first(image.row_count),
              [&](const auto& row) { out.object([&] { add_row(out, row); }); });
  });
  return out.take();
}

}  // namespace headway::watch
