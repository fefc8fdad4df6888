#include "sampling/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text_lines.hpp"
#include "sampling/connections.hpp"

namespace headway::sampling {
namespace {

using base::is_one_line;
using base::line_reader;
using base::number_in;
using base::one_line;
using base::take_word;

constexpr std::string_view first_line = "headway profile 2";
constexpr std::size_t text_bytes_max = 64 * 1024;

using samples = std::array<double, curve::sample_count>;

/// "1024 piece 21034 eager 9231 cost 1200"
bool read_sample(std::string_view text, std::size_t which, std::array<samples, 3>& into) {
  if (number_in<std::uint64_t>(take_word(text)) != curve::bytes_of(which)) return false;
  constexpr std::array<std::string_view, 3> names{"piece", "eager", "cost"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (take_word(text) != names[i]) return false;
    const auto ns = number_in<double>(take_word(text));
    if (!ns || !std::isfinite(*ns) || *ns <= 0 || *ns > curve::ns_max) return false;
    into[i][which] = *ns;
  }
  return text.empty();
}

/// A curve at its upper bound still rises by its least slope beyond it; a reader accepts no more.
double written(const curve& c, std::size_t sample) {
  return std::min(c.sample_ns(sample), curve::ns_max);
}

}  // namespace

std::string text_of(const record& r) {
  std::string text = fmt::format("{}\nhere {}\nthere {}\nrail {}\nhardware {}\nmeasured {}\n",
                                 first_line, one_line(r.key.here), one_line(r.key.there),
                                 one_line(r.key.rail), one_line(r.hardware), r.measured_at);
  text += fmt::format("connections {}\n", std::clamp(r.found.connections, 1, connections_max));
  for (std::size_t i = 0; i < curve::sample_count; ++i)
    text +=
        fmt::format("sample {} piece {} eager {} cost {}\n", curve::bytes_of(i),
                    written(r.found.piece, i), written(r.found.eager, i), written(r.found.cost, i));
  return base::with_sum(std::move(text));
}

base::result<record> record_of(std::string_view text) {
  const auto wrong = [](std::string what) {
    return base::failed(base::fault_kind::bad_input, std::move(what));
  };
  if (text.size() > text_bytes_max) return wrong("far too long");
  const auto whole = base::without_sum(text);
  if (!whole) return std::unexpected(whole.error());
  record r;
  line_reader lines(*whole);
  if (lines.line(first_line) != "") return wrong("not a profile of this version");
  const auto words = {std::pair("here", &r.key.here), std::pair("there", &r.key.there),
                      std::pair("rail", &r.key.rail), std::pair("hardware", &r.hardware)};
  for (const auto& [name, target] : words) {
    const auto found = lines.line(name);
    if (!found || !is_one_line(*found))
      return wrong(fmt::format("line {}: no {}", lines.number(), name));
    *target = *found;
  }
  const auto at = lines.line("measured");
  const auto seconds = at ? number_in<std::uint64_t>(*at) : std::nullopt;
  if (!seconds) return wrong(fmt::format("line {}: no time", lines.number()));
  r.measured_at = *seconds;
  const auto many = lines.line("connections");
  const auto connections = many ? number_in<int>(*many) : std::nullopt;
  if (!connections || *connections < 1 || *connections > connections_max)
    return wrong(fmt::format("line {}: no number of connections", lines.number()));
  std::array<samples, 3> found{};
  for (std::size_t i = 0; i < curve::sample_count; ++i) {
    const auto sample = lines.line("sample");
    if (!sample || !read_sample(*sample, i, found))
      return wrong(fmt::format("line {}: no sample", lines.number()));
  }
  r.found = {.piece = *curve::from_samples(found[0]),
             .eager = *curve::from_samples(found[1]),
             .cost = *curve::from_samples(found[2]),
             .connections = *connections};
  return r;
}

}  // namespace headway::sampling
