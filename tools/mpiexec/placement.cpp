#include "tools/mpiexec/placement.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <ranges>

namespace headway::mpiexec {
namespace {

using place = machine_places::place;

struct level_name {
  std::string_view text;
  place_level level;
};
constexpr level_name level_names[] = {
    {"hwthread", place_level::hwthread}, {"core", place_level::core},
    {"l3cache", place_level::l3cache},   {"numa", place_level::numa},
    {"socket", place_level::socket},     {"package", place_level::socket},
    {"node", place_level::node},         {"machine", place_level::node},
    {"board", place_level::node},
};
constexpr const char* accepted_levels = "hwthread, core, l3cache, numa, socket, node";

std::optional<place_level> level_of(std::string_view text) {
  const auto found = std::ranges::find(level_names, text, &level_name::text);
  return found == std::end(level_names) ? std::nullopt : std::optional(found->level);
}

bool take_count(std::string_view text, int& into) {
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, into);
  return error == std::errc{} && at == end && into >= 1;
}

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (const auto part : text | std::views::split(between)) parts.emplace_back(part);
  if (parts.empty()) parts.push_back(text);  // `split` makes nothing of an empty text
  return parts;
}

std::unexpected<base::fault> wrong(std::string_view text, std::string_view accepted) {
  return base::failed(base::fault_kind::bad_input,
                      fmt::format("{} is not understood ({})", text, accepted));
}

/// Modifiers that Open MPI's users write, whatever the case of the letters, and that say what is so
/// anyway.
bool changes_nothing(std::string_view modifier) {
  constexpr std::string_view known[] = {"overload-allowed", "if-supported", "oversubscribe", "span",
                                        "nooversubscribe"};
  return std::ranges::any_of(known, [&](std::string_view one) {
    return std::ranges::equal(one, modifier, {}, {},
                              [](unsigned char c) { return std::tolower(c); });
  });
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Processors that share a place of this level have the same text; empty: unknown.
std::string place_key(const std::string& processor, place_level level) {
  switch (level) {
    case place_level::hwthread:
      return processor;
    case place_level::core:
      return first_line(processor + "/topology/thread_siblings_list");
    case place_level::l3cache:
      return first_line(processor + "/cache/index3/shared_cpu_list");
    case place_level::numa: {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(processor, error))
        if (entry.path().filename().string().starts_with("node")) return entry.path().filename();
      return {};
    }
    case place_level::socket:
      return first_line(processor + "/topology/core_siblings_list");
    case place_level::node:
      break;
  }
  return {};
}

bool within(const place& inner, const place& outer) { return std::ranges::includes(outer, inner); }

}  // namespace

base::result<> placement_wish::take_bind(std::string_view text) {
  const auto accepted = fmt::format("accepted: none, {}, and LEVEL:N", accepted_levels);
  const auto parts = parts_of(text, ':');
  bind_text = text;
  bind = parts.front() == "none" ? place_level::node : level_of(parts.front());
  if (!bind) return wrong(text, accepted);
  for (const auto part : parts | std::views::drop(1))
    if (!take_count(part, bind_count) && !changes_nothing(part)) return wrong(text, accepted);
  return {};
}

base::result<> placement_wish::take_map(std::string_view text) {
  const auto accepted = fmt::format("accepted: slot, {}, LEVEL:pe=N, ppr:N:LEVEL", accepted_levels);
  auto parts = parts_of(text, ':');
  map_text = text;
  if (parts.front() == "ppr") {
    if (parts.size() < 3 || parts[2].empty() || !take_count(parts[1], ranks_per_place))
      return wrong(text, accepted);
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts.front() == "slot") map = place_level::core;
  else if (!parts.front().empty()) map = level_of(parts.front());
  if (!map && !parts.front().empty()) return wrong(text, accepted);
  for (const auto modifiers : parts | std::views::drop(1)) {
    for (const auto modifier : parts_of(modifiers, ',')) {
      const bool pe = modifier.starts_with("pe=") || modifier.starts_with("PE=");
      if (pe && take_count(modifier.substr(3), bind_count)) bind = bind.value_or(place_level::core);
      else if (!changes_nothing(modifier)) return wrong(text, accepted);
    }
  }
  if (!bind && parts.front() != "slot") bind = map;
  if (!bind && !map) map_text.clear();  // for other launchers there is nothing either
  return {};
}

bool placement_wish::binds() const noexcept { return bind && *bind != place_level::node; }

void placement_wish::choose_default(int ranks, const machine_places& machine) noexcept {
  const auto count = static_cast<std::size_t>(ranks);
  const auto cores = machine.of(place_level::core).size();
  if (!is_unspecified() || ranks < 2 || cores < 2) return;
  if (count != cores && machine.of(place_level::hwthread).size() == count)
    bind = place_level::hwthread;
  else if (count % cores == 0) bind = place_level::core;
  chosen_by_default = bind.has_value();
}

std::vector<int> machine_places::allowed_here() {
  cpu_set_t mask;
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return allowed;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &mask)) allowed.push_back(processor);
  return allowed;
}

machine_places machine_places::read(const std::string& folder, const std::vector<int>& allowed) {
  machine_places made;
  for (std::size_t level = level_count; level-- > 0;) {
    std::map<std::string, place> found;
    for (const int processor : allowed)
      found[place_key(fmt::format("{}/cpu{}", folder, processor), static_cast<place_level>(level))]
          .push_back(processor);
    auto& places = made.places_[level];
    for (auto& [key, processors] : found) places.push_back(std::move(processors));
    const auto& sockets = made.of(place_level::socket);
    const auto order_of = [&](const place& one) {
      const auto socket = std::ranges::find_if(
          sockets, [&](const auto& all) { return within({one.front()}, all); });
      return std::pair(socket - sockets.begin(), one.front());
    };
    if (level < static_cast<std::size_t>(place_level::socket))
      std::ranges::sort(places, {}, order_of);
    else std::ranges::sort(places);
  }
  return made;
}

place machine_places::of_rank(int rank, const placement_wish& wish) const {
  if (!wish.binds() || of(place_level::hwthread).empty()) return {};
  const auto level = *wish.bind;
  // Ranks that are dealt out over what they are bound to, or over the one machine, take one place
  // after the other.
  const auto mapped = wish.map && *wish.map != level ? *wish.map : place_level::node;
  const auto& over = of(wish.ranks_per_place > 0 ? *wish.map : mapped);
  const auto count = over.size(), number = static_cast<std::size_t>(rank);
  const auto each = static_cast<std::size_t>(wish.ranks_per_place);
  const auto& chosen = over[(each > 0 ? number / each : number) % count];
  const auto turn = each > 0 ? number % each : number / count;
  std::vector<const place*> inside;
  for (const auto& one : of(level))
    if (within(one, chosen) || within(chosen, one)) inside.push_back(&one);
  if (inside.empty()) return chosen;  // levels that do not nest
  place processors;
  const auto wanted = std::min(static_cast<std::size_t>(wish.bind_count), inside.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto& one = *inside[(turn * wanted + i) % inside.size()];
    processors.insert(processors.end(), one.begin(), one.end());
  }
  std::ranges::sort(processors);
  return processors;
}

int machine_places::ranks_wanted(const placement_wish& wish) const noexcept {
  return wish.ranks_per_place * static_cast<int>(of(*wish.map).size());
}

cpu_set_t mask_of(const machine_places::place& processors) noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : processors) CPU_SET(processor, &mask);
  return mask;
}

std::string processor_text(const place& processors) {
  std::string text;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t last = i;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", processors[i]);
    if (last > i) text += fmt::format("-{}", processors[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace headway::mpiexec
