#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "tools/headway/facts.hpp"

namespace headway::tool {
namespace {

/// Width of a column: that of its longest entry.
template <class Range, class Text>
std::size_t widest(const Range& entries, Text text) {
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, fmt::formatted_size("{}", text(entry)));
  return width;
}

std::string value_text(const std::string& value, const std::string& unit) {
  if (value.empty()) return "(empty)";
  return unit.empty() ? value : fmt::format("{} {}", value, unit);
}

std::string machine_text(const facts& all) {
  auto text = fmt::format("machine{}: {} processors may be used\n",
                          all.imagined_machine ? " (imagined, HEADWAY_TOPOLOGY)" : "",
                          all.usable_processors);
  for (const auto& place : all.places)
    text += fmt::format("  {:{}}{}: processors {}\n", "", 2 * place.depth, place.name,
                        fmt::join(place.processors, " "));
  return text;
}

std::string privileges_text(const facts& all) {
  if (all.weight) return "privileges: waiting threads get the greatest scheduling weight\n";
  return "privileges: waiting threads keep their scheduling weight; for the greatest one beside "
         "computing threads: sudo prlimit --nice=40 --pid $$\n";
}

std::string rails_text(const facts& all) {
  if (!all.rails_fault.empty()) return fmt::format("rails: {}\n", all.rails_fault);
  const auto width = widest(all.rails, [](const auto& rail) { return rail.name; });
  std::string text = "rails:\n";
  for (const auto& rail : all.rails)
    text += fmt::format("  {:{}}  {}\n", rail.name, width, rail.address);
  return text;
}

}  // namespace

std::string overview_text(const facts& all) {
  return fmt::format("headway {} ({}), MPI {}, standard ABI {}\n", all.version, all.compiler,
                     all.mpi_version, all.abi_version) +
         machine_text(all) + privileges_text(all) + rails_text(all);
}

std::string tunables_text(const facts& all) {
  std::string text = "tunables:\n";
  for (const auto& one : all.tunables) {
    const bool is_default = one.origin == "default";
    text += fmt::format("  {} = {}, {}; accepts {}\n      {}\n", one.name,
                        value_text(one.value, one.unit),
                        is_default ? std::string("the default")
                                   : fmt::format("set by the {}; default {}", one.origin,
                                                 value_text(one.fallback, one.unit)),
                        one.accepted, one.why);
  }
  return text;
}

std::string functions_text(const facts& all) {
  const auto works = std::ranges::count_if(all.functions, &function_fact::works);
  auto text = fmt::format("MPI functions: {} of {} work; the others return {}\n", works,
                          all.functions.size(), "MPI_ERR_UNSUPPORTED_OPERATION");
  std::string_view chapter;
  for (const auto& one : all.functions) {
    if (one.chapter != chapter) text += fmt::format("{}:\n", one.chapter);
    chapter = one.chapter;
    text += fmt::format("  {}  {}\n", one.works ? "yes" : "no ", one.name);
  }
  return text;
}

}  // namespace headway::tool
