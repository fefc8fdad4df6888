#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
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

std::string windows_text(const facts& all) {
  if (all.windows.empty()) return {};
  const auto width = widest(all.windows, [](const auto& one) { return one.made_by; });
  std::string text = "windows, to processes of this node (to others by wire):\n";
  for (const auto& one : all.windows)
    text += fmt::format("  {:{}}  {}\n", one.made_by, width, one.way);
  return text;
}

/// Characters, of which some have several bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

/// The text in lines of at most so many columns (0: in one line), each begun with blanks; lines
/// after the first have four more. A word that is longer stands alone.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out(indent, ' ');
  std::size_t at = indent;
  bool first = true;
  for (const auto part : text | std::views::split(' ')) {
    const std::string_view word(part);
    const auto width = width_of(word);
    if (!first && columns != 0 && at + 1 + width > columns) {
      out += '\n' + std::string(indent + 4, ' ');
      at = indent + 4;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width;
    first = false;
  }
  return out + '\n';
}

}  // namespace

std::string overview_text(const facts& all) {
  return fmt::format("headway {} ({}), MPI {}, standard ABI {}\n", all.version, all.compiler,
                     all.mpi_version, all.abi_version) +
         machine_text(all) + privileges_text(all) + rails_text(all) + windows_text(all);
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
