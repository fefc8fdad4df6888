#include "rails/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <iterator>

#include "base/trimmed.hpp"

namespace headway::rails {
namespace {

struct word {
  std::string driver;
  std::string pattern;  // empty: none given
};

struct exclusion {
  std::string name;    // a driver, or a pattern of interfaces
  std::string driver;  // whose interfaces; empty: of any driver
};

struct wishes {
  std::vector<word> wanted;
  std::vector<exclusion> excluded;
};

bool matches(std::string_view pattern, const std::string& name) {
  return fnmatch(std::string(pattern).c_str(), name.c_str(), 0) == 0;
}

bool is_excluded(std::span<const exclusion> all, std::string_view driver, const std::string& name) {
  return std::ranges::any_of(all, [&](const exclusion& e) {
    return (e.driver.empty() || e.driver == driver) && matches(e.name, name);
  });
}

constexpr std::string_view blanks = " \t";

wishes read_words(std::string_view text) {
  wishes found;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string one(base::trimmed(text.substr(0, comma), blanks));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (one.empty()) continue;
    if (one[0] == '!' || one[0] == '^') {
      const std::string name(base::trimmed(std::string_view(one).substr(1), blanks));
      const auto colon = name.find(':');
      found.excluded.push_back(
          colon == std::string::npos
              ? exclusion{.name = name, .driver = {}}
              : exclusion{.name = name.substr(colon + 1), .driver = name.substr(0, colon)});
      continue;
    }
    const auto colon = one.find(':');
    found.wanted.push_back({.driver = one.substr(0, colon),
                            .pattern = colon == std::string::npos ? "" : one.substr(colon + 1)});
  }
  return found;
}

const driver_kind* find_driver(std::span<const driver_kind> drivers, std::string_view name) {
  const auto found = std::ranges::find(drivers, name, &driver_kind::name);
  return found == drivers.end() ? nullptr : &*found;
}

std::string names_of(std::span<const driver_kind> drivers) {
  std::string text;
  for (const auto& d : drivers) text += fmt::format("{}{}", text.empty() ? "" : ", ", d.name);
  return text;
}

std::string names_of(std::span<const net_interface> interfaces) {
  std::string text;
  for (const auto& i : interfaces)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", i.name, i.usable ? "" : " (down)");
  return text.empty() ? "none" : text;
}

bool belongs_to_containers(const std::string& name) {
  return std::ranges::any_of(container_interfaces(),
                             [&](std::string_view p) { return matches(p, name); });
}

using interface_list = std::vector<net_interface>;

interface_list usual_interfaces(const word& w, std::span<const net_interface> all,
                                std::span<const exclusion> excluded) {
  interface_list outward;
  interface_list loopback;
  for (const auto& i : all) {
    if (!i.usable || is_excluded(excluded, w.driver, i.name)) continue;
    if (i.loopback) {
      loopback.push_back(i);
    } else if (!i.enslaved && !belongs_to_containers(i.name)) {
      outward.push_back(i);
    }
  }
  return outward.empty() ? loopback : outward;
}

base::result<interface_list> named_interfaces(const word& w, std::span<const net_interface> all,
                                              std::span<const exclusion> excluded) {
  interface_list chosen;
  for (const auto& i : all)
    if (i.usable && matches(w.pattern, i.name) && !is_excluded(excluded, w.driver, i.name))
      chosen.push_back(i);
  if (!chosen.empty()) return chosen;
  return base::failed(base::fault_kind::bad_input,
                      fmt::format("HEADWAY_RAILS: '{}:{}' names no interface in use here, there "
                                  "are: {}",
                                  w.driver, w.pattern, names_of(all)));
}

/// Adds the rails that a word names, none twice. A network driver without an interface adds no
/// rail: on a machine without a network that is no error.
base::result<> choose(const word& w, const driver_kind& kind,
                      std::span<const net_interface> interfaces,
                      std::span<const exclusion> excluded, std::vector<rail_choice>& chosen) {
  const auto add = [&](std::optional<net_interface> on) {
    const auto known = [&](const rail_choice& c) {
      return c.driver == w.driver && (!on || c.interface->name == on->name);
    };
    if (std::ranges::none_of(chosen, known))
      chosen.push_back({.driver = w.driver, .interface = std::move(on)});
  };
  if (!kind.networked) {
    if (w.pattern.empty()) {
      add(std::nullopt);
      return {};
    }
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("HEADWAY_RAILS: '{}' takes no interface", w.driver));
  }
  auto found = w.pattern.empty() ? usual_interfaces(w, interfaces, excluded)
                                 : named_interfaces(w, interfaces, excluded);
  if (!found) return std::unexpected(std::move(found).error());
  for (auto& i : *found) add(std::move(i));
  return {};
}

/// Every exclusion must match something: a misspelt one would be ignored silently.
base::result<> check_exclusions(const wishes& w, std::span<const net_interface> interfaces,
                                std::span<const driver_kind> drivers) {
  for (const auto& [name, driver] : w.excluded) {
    const bool pattern = name.find_first_of("*?[") != std::string::npos;
    const bool found =
        pattern || (driver.empty() && find_driver(drivers, name)) || belongs_to_containers(name) ||
        std::ranges::any_of(interfaces, [&](const auto& i) { return i.name == name; });
    if (!found || (!driver.empty() && !find_driver(drivers, driver)))
      return base::failed(
          base::fault_kind::bad_input,
          fmt::format("HEADWAY_RAILS: '!{}{}{}' is no driver ({}) and no interface ({})", driver,
                      driver.empty() ? "" : ":", name, names_of(drivers), names_of(interfaces)));
  }
  return {};
}

}  // namespace

base::result<std::vector<rail_choice>> select_rails(std::string_view text,
                                                    std::span<const net_interface> interfaces,
                                                    std::span<const driver_kind> drivers) {
  auto w = read_words(text);
  if (auto checked = check_exclusions(w, interfaces, drivers); !checked)
    return std::unexpected(std::move(checked).error());
  if (w.wanted.empty()) {
    for (const auto& d : drivers)
      w.wanted.push_back({.driver = std::string(d.name), .pattern = {}});
  } else if (find_driver(drivers, "self") &&
             std::ranges::find(w.wanted, "self", &word::driver) == w.wanted.end()) {
    w.wanted.insert(w.wanted.begin(), {.driver = "self", .pattern = {}});
  }

  std::vector<rail_choice> chosen;
  for (const auto& one : w.wanted) {
    const auto* kind = find_driver(drivers, one.driver);
    if (!kind)
      return base::failed(base::fault_kind::bad_input,
                          fmt::format("HEADWAY_RAILS: '{}' is no driver, there are: {}", one.driver,
                                      names_of(drivers)));
    if (std::ranges::any_of(w.excluded, [&](const exclusion& e) {
          return e.driver.empty() && e.name == one.driver;
        }))
      continue;
    if (auto done = choose(one, *kind, interfaces, w.excluded, chosen); !done)
      return std::unexpected(std::move(done).error());
  }
  return chosen;
}

}  // namespace headway::rails
