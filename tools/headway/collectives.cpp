#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string_view>

#include "collectives/choice.hpp"
#include "tools/headway/facts.hpp"
#include "tools/headway/wrapped.hpp"

namespace headway::tool {
namespace {

using collectives::rule;

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t k = 1024;
  return bytes % k == 0 && bytes > 0 ? fmt::format("{} KB", bytes / k) : fmt::format("{} B", bytes);
}

/// The row's conditions, in words.
std::string when_text(const rule& r) {
  std::vector<std::string> all;
  if (r.bytes_max != std::numeric_limits<std::int64_t>::max() && r.bytes_max != rule::only_forced)
    all.push_back("up to " + size_text(r.bytes_max));
  if (r.ranks_max != std::numeric_limits<int>::max())
    all.push_back(fmt::format("up to {} ranks", r.ranks_max));
  if (r.where == rule::load::yes) all.emplace_back("more ranks than processors");
  if (r.where == rule::load::no) all.emplace_back("no more ranks than processors");
  if ((r.needs & collectives::shared_slots) != 0)
    all.emplace_back("one node, values of up to 48 bytes");
  if ((r.needs & collectives::node_banks) != 0) all.emplace_back("one node");
  if ((r.needs & collectives::several_nodes) != 0) all.emplace_back("several nodes");
  if ((r.needs & collectives::equal_nodes) != 0)
    all.emplace_back("several nodes, equally many ranks on each");
  if ((r.needs & collectives::power_of_two) != 0) all.emplace_back("a power of two of ranks");
  if ((r.needs & collectives::any_order) != 0) all.emplace_back("the operator commutes");
  if ((r.needs & collectives::two_buffers) != 0) all.emplace_back("not in place");
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string date_text(std::uint64_t seconds) {
  const auto at = static_cast<std::time_t>(seconds);
  std::tm day{};
  if (localtime_r(&at, &day) == nullptr) return "an unknown date";
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &day)};
}

/// "shared, else doubling": from the quickest on.
std::string order_text(const collectives::tuned_row& row) {
  std::string text;
  for (const auto use : row.order)
    if (use != collectives::algorithm::automatic)
      text += fmt::format("{}{}", text.empty() ? "" : ", else ", name_of(use));
  return text;
}

/// The rows of one shape of job, with the sizes from which on each counts.
void add_measured(std::vector<rule_fact>& all, collectives::collective what,
                  const collectives::tuned_shape& shape) {
  const auto source = fmt::format("headway tune on {}", date_text(shape.measured_at));
  for (const auto& row : shape.rows_of(what)) {
    const auto size =
        what == collectives::collective::barrier ? "" : ", up to " + size_text(row.bytes_max);
    all.push_back({.collective = name_of(what),
                   .algorithm = name_of(row.order.front()),
                   .when = fmt::format("{} ranks on {} processors of one node{}", shape.ranks,
                                       shape.processors, size),
                   .why = fmt::format("measured by {}: {}", source, order_text(row)),
                   .source = source});
  }
}

}  // namespace

std::vector<rule_fact> collective_rules(const std::optional<collectives::tuned_table>& tuned) {
  const auto user = collectives::settings::from_environment();
  std::vector<rule_fact> all;
  for (std::size_t i = 0; i < collectives::collective_count; ++i) {
    const auto what = static_cast<collectives::collective>(i);
    if (tuned)
      for (const auto& shape : tuned->shapes) add_measured(all, what, shape);
    for (const rule& r : collectives::rules(what)) {
      const bool forced = user.forced[i] == r.use;
      all.push_back({.collective = name_of(what),
                     .algorithm = name_of(r.use),
                     .when = when_text(r),
                     .why = r.measured,
                     .forced = forced,
                     .chosen = r.bytes_max != rule::only_forced,
                     .source = forced ? "HEADWAY_COLLECTIVES" : "built in"});
    }
  }
  return all;
}

std::string rules_text(const std::vector<rule_fact>& all, std::size_t columns) {
  auto text = wrapped(
      "collectives: the first row that fits is taken; bytes are those of the whole vector, or of "
      "one block where each rank has one. First what HEADWAY_COLLECTIVES=collective:algorithm "
      "names, then what headway tune has measured here, then the built-in table",
      0, columns);
  std::string_view of;
  for (const auto& one : all) {
    if (one.collective != of) text += fmt::format("  {}\n", one.collective);
    of = one.collective;
    const auto when = !one.chosen        ? "only if HEADWAY_COLLECTIVES names it"
                      : one.when.empty() ? "always"
                                         : one.when.c_str();
    const auto why = one.source == "built in" ? fmt::format("built in, {}", one.why) : one.why;
    text +=
        wrapped(fmt::format("{:13}  {}: {}{}", one.algorithm, when, why,
                            one.forced ? " (set by HEADWAY_COLLECTIVES: first where it fits)" : ""),
                4, columns);
  }
  return text;
}

}  // namespace headway::tool
