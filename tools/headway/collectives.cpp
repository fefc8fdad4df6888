#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "collectives/choice.hpp"
#include "tools/headway/facts.hpp"

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
  if ((r.needs & collectives::any_order) != 0) all.emplace_back("the operator commutes");
  if ((r.needs & collectives::two_buffers) != 0) all.emplace_back("not in place");
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

std::vector<rule_fact> collective_rules() {
  const auto user = collectives::settings::from_environment();
  std::vector<rule_fact> all;
  for (std::size_t i = 0; i < collectives::collective_count; ++i) {
    const auto what = static_cast<collectives::collective>(i);
    for (const rule& r : collectives::rules(what))
      all.push_back({.collective = name_of(what),
                     .algorithm = name_of(r.use),
                     .when = when_text(r),
                     .why = r.measured,
                     .forced = user.forced[i] == r.use,
                     .chosen = r.bytes_max != rule::only_forced});
  }
  return all;
}

std::string rules_text(const std::vector<rule_fact>& all) {
  std::string text =
      "collectives: the first row that fits is taken; bytes are those of the whole vector, or of\n"
      "one block where each rank has one; HEADWAY_COLLECTIVES=collective:algorithm takes another\n";
  std::string_view of;
  for (const auto& one : all) {
    if (one.collective != of) text += fmt::format("  {}\n", one.collective);
    of = one.collective;
    const auto when = !one.chosen        ? "only if HEADWAY_COLLECTIVES names it"
                      : one.when.empty() ? "always"
                                         : one.when.c_str();
    text += fmt::format("    {:13}  {}: {}{}\n", one.algorithm, when, one.why,
                        one.forced ? " (named by HEADWAY_COLLECTIVES: first where it fits)" : "");
  }
  return text;
}

}  // namespace headway::tool
