#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "base/json_string.hpp"
#include "tools/headway/facts.hpp"

namespace headway::tool {
namespace {

using base::json_string;

/// A JSON array with one entry per line.
template <class Range, class Text>
std::string array(const Range& entries, Text text) {
  std::string out = "[";
  const char* before = "\n    ";
  for (const auto& entry : entries) {
    out += before + text(entry);
    before = ",\n    ";
  }
  return out + "]";
}

std::string one_place(const place_fact& p) {
  return fmt::format(R"({{"name": {}, "depth": {}, "processors": [{}]}})", json_string(p.name),
                     p.depth, fmt::join(p.processors, ", "));
}

std::string one_rail(const rail_fact& r) {
  return fmt::format(R"({{"name": {}, "address": {}, "peers": {}}})", json_string(r.name),
                     json_string(r.address), r.peers);
}

std::string one_window(const window_fact& w) {
  return fmt::format(R"({{"made_by": {}, "way": {}}})", json_string(w.made_by), json_string(w.way));
}

std::string one_tunable(const tunable_fact& t) {
  return fmt::format(
      R"({{"name": {}, "why": {}, "unit": {}, "accepts": {}, "default": {}, "value": {}, )"
      R"("origin": {}, "group": {}}})",
      json_string(t.name), json_string(t.why), json_string(t.unit), json_string(t.accepted),
      json_string(t.fallback), json_string(t.value), json_string(t.origin), json_string(t.group));
}

std::string one_function(const function_fact& f) {
  return fmt::format(R"({{"name": {}, "chapter": {}, "works": {}}})", json_string(f.name),
                     json_string(f.chapter), f.works);
}

std::string one_rule(const rule_fact& r) {
  return fmt::format(
      R"({{"collective": {}, "algorithm": {}, "when": {}, "why": {}, "forced": {}, "chosen": {}, )"
      R"("source": {}}})",
      json_string(r.collective), json_string(r.algorithm), json_string(r.when), json_string(r.why),
      r.forced, r.chosen, json_string(r.source));
}

}  // namespace

std::string json_text(const facts& all) {
  std::string out = "{\n";
  const auto member = [&out](std::string_view name, const std::string& value) {
    out += fmt::format("{}  {}: {}", out.size() > 2 ? ",\n" : "", json_string(name), value);
  };
  member("version", json_string(all.version));
  member("compiler", json_string(all.compiler));
  member("mpi_version", json_string(all.mpi_version));
  member("abi_version", json_string(all.abi_version));
  member("usable_processors", std::to_string(all.usable_processors));
  member("greatest_weight", all.weight ? "true" : "false");
  member("imagined_machine", all.imagined_machine ? "true" : "false");
  member("places", array(all.places, one_place));
  member("rails", array(all.rails, one_rail));
  member("rails_fault", json_string(all.rails_fault));
  member("windows", array(all.windows, one_window));
  member("tunables", array(all.tunables, one_tunable));
  member("mpi_functions", array(all.functions, one_function));
  member("collectives", array(all.rules, one_rule));
  return out + "\n}\n";
}

}  // namespace headway::tool
