#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "tools/headway/facts.hpp"
#include "tools/headway/json_text.hpp"

namespace headway::tool {
namespace {

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
  return fmt::format(R"({{"name": {}, "depth": {}, "processors": [{}]}})", quoted(p.name), p.depth,
                     fmt::join(p.processors, ", "));
}

std::string one_rail(const rail_fact& r) {
  return fmt::format(R"({{"name": {}, "address": {}, "peers": {}}})", quoted(r.name),
                     quoted(r.address), r.peers);
}

std::string one_window(const window_fact& w) {
  return fmt::format(R"({{"made_by": {}, "way": {}}})", quoted(w.made_by), quoted(w.way));
}

std::string one_tunable(const tunable_fact& t) {
  return fmt::format(
      R"({{"name": {}, "why": {}, "unit": {}, "accepts": {}, "default": {}, "value": {}, )"
      R"("origin": {}, "group": {}}})",
      quoted(t.name), quoted(t.why), quoted(t.unit), quoted(t.accepted), quoted(t.fallback),
      quoted(t.value), quoted(t.origin), quoted(t.group));
}

std::string one_function(const function_fact& f) {
  return fmt::format(R"({{"name": {}, "chapter": {}, "works": {}}})", quoted(f.name),
                     quoted(f.chapter), f.works);
}

std::string one_rule(const rule_fact& r) {
  return fmt::format(
      R"({{"collective": {}, "algorithm": {}, "when": {}, "why": {}, "forced": {}, "chosen": {}, )"
      R"("source": {}}})",
      quoted(r.collective), quoted(r.algorithm), quoted(r.when), quoted(r.why), r.forced, r.chosen,
      quoted(r.source));
}

}  // namespace

std::string json_text(const facts& all) {
  std::string out = "{\n";
  const auto member = [&out](std::string_view name, const std::string& value) {
    out += fmt::format("{}  {}: {}", out.size() > 2 ? ",\n" : "", quoted(name), value);
  };
  member("version", quoted(all.version));
  member("compiler", quoted(all.compiler));
  member("mpi_version", quoted(all.mpi_version));
  member("abi_version", quoted(all.abi_version));
  member("usable_processors", std::to_string(all.usable_processors));
  member("greatest_weight", all.weight ? "true" : "false");
  member("imagined_machine", all.imagined_machine ? "true" : "false");
  member("places", array(all.places, one_place));
  member("rails", array(all.rails, one_rail));
  member("rails_fault", quoted(all.rails_fault));
  member("windows", array(all.windows, one_window));
  member("tunables", array(all.tunables, one_tunable));
  member("mpi_functions", array(all.functions, one_function));
  member("collectives", array(all.rules, one_rule));
  return out + "\n}\n";
}

}  // namespace headway::tool
