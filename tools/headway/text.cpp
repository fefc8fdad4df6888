#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "tools/headway/facts.hpp"
#include "tools/headway/wrapped.hpp"

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

std::string machine_text(const facts& all, std::size_t columns) {
  auto text = wrapped(fmt::format("machine{}: {} processors may be used",
                                  all.imagined_machine ? " (imagined, HEADWAY_TOPOLOGY)" : "",
                                  all.usable_processors),
                      0, columns);
  for (const auto& place : all.places)
    text += wrapped(fmt::format("{}: processors {}", place.name, fmt::join(place.processors, " ")),
                    2 + 2 * static_cast<std::size_t>(place.depth), columns);
  return text;
}

std::string_view privileges_text(const facts& all) {
  if (all.weight) return "privileges: waiting threads get the greatest scheduling weight";
  return "privileges: waiting threads keep their scheduling weight; for the greatest one beside "
         "computing threads: sudo prlimit --nice=40 --pid $$";
}

std::string rails_text(const facts& all, std::size_t columns) {
  if (!all.rails_fault.empty())
    return wrapped(fmt::format("rails: {}", all.rails_fault), 0, columns);
  const auto width = widest(all.rails, [](const auto& rail) { return rail.name; });
  std::string text = "rails:\n";
  for (const auto& rail : all.rails)
    text += wrapped(fmt::format("{:{}}  {}", rail.name, width, rail.address), 2, columns);
  return text;
}

std::string windows_text(const facts& all, std::size_t columns) {
  if (all.windows.empty()) return {};
  const auto width = widest(all.windows, [](const auto& one) { return one.made_by; });
  auto text = wrapped("windows, to processes of this node (to others by wire):", 0, columns);
  for (const auto& one : all.windows)
    text += wrapped(fmt::format("{:{}}  {}", one.made_by, width, one.way), 2, columns);
  return text;
}

}  // namespace

std::string overview_text(const facts& all, std::size_t columns) {
  return wrapped(fmt::format("headway {} ({}), MPI {}, standard ABI {}", all.version, all.compiler,
                             all.mpi_version, all.abi_version),
                 0, columns) +
         machine_text(all, columns) + wrapped(privileges_text(all), 0, columns) +
         rails_text(all, columns) + windows_text(all, columns);
}

std::string tunables_text(const facts& all, std::size_t columns) {
  std::string text = "tunables:\n", group;
  for (const auto& one : all.tunables) {
    if (one.group != group)
      text += wrapped(fmt::format("{}: {}", one.group, one.group_why), 2, columns);
    group = one.group;
    const bool is_default = one.origin == "default";
    text +=
        wrapped(fmt::format("{} = {}, {}; accepts {}", one.name, value_text(one.value, one.unit),
                            is_default ? std::string("the default")
                                       : fmt::format("set by the {}; default {}", one.origin,
                                                     value_text(one.fallback, one.unit)),
                            one.accepted),
                4, columns);
    text += wrapped(one.why, 8, columns);
  }
  return text;
}

std::string functions_text(const facts& all, std::size_t columns) {
  const auto works = std::ranges::count_if(all.functions, &function_fact::works);
  auto text = wrapped(fmt::format("MPI functions: {} of {} work; the others return {}", works,
                                  all.functions.size(), "MPI_ERR_UNSUPPORTED_OPERATION"),
                      0, columns);
  std::string_view chapter;
  for (const auto& one : all.functions) {
    if (one.chapter != chapter) text += wrapped(one.chapter + ":", 0, columns);
    chapter = one.chapter;
    text += fmt::format("  {}  {}\n", one.works ? "yes" : "no ", one.name);
  }
  return text;
}

}  // namespace headway::tool
