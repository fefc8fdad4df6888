#include "topology/tree.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "base/assert.hpp"

namespace headway::topology {
namespace {

using kind = hardware::kind;

constexpr std::size_t places_max = UINT16_MAX;

const char* word_for(kind what) {
  switch (what) {
    case kind::package:
      return "package";
    case kind::die:
      return "die";
    case kind::l3:
      return "L3";
    case kind::core:
      return "core";
    case kind::processor:
      return "processor";
    case kind::machine:
    case kind::group:
      break;
  }
  return "group";
}

level level_of(kind what) {
  switch (what) {
    case kind::package:
      return level::package;
    case kind::die:
      return level::die;
    case kind::l3:
      return level::l3;
    case kind::core:
    case kind::processor:
      return level::core;
    case kind::machine:
    case kind::group:
      break;
  }
  return level::machine;
}

/// The objects of a machine, with the nesting made explicit.
class walk {
 public:
  explicit walk(const hardware& of) : all_(of.objects) {}

  /// Adds the place that object `at` represents, and those inside.
  void add(std::vector<place>& places, std::size_t at, place_id parent) const {
    if (places.size() >= places_max) return;
    const auto inner = without_lone_levels(at);
    const auto& object = all_[at];
    const auto& named = is_leaf(inner) ? all_[inner] : object;
    const auto id = static_cast<place_id>(places.size());
    const bool root = places.empty();
    HEADWAY_ASSERT(root || static_cast<std::size_t>(parent) < places.size());
    places.push_back({id, root ? id : parent,
                      root ? "machine" : fmt::format("{} {}", word_for(named.what), named.number),
                      object.processors, 0, root ? level::machine : level_of(object.what)});
    if (!root) ++places[static_cast<std::size_t>(parent)].children;
    if (is_leaf(inner)) return;
    for (const auto child : inside(inner)) add(places, child, id);
  }

 private:
  [[nodiscard]] std::vector<std::size_t> inside(std::size_t at) const {
    std::vector<std::size_t> found;
    for (auto i = at + 1; i < all_.size() && all_[i].depth > all_[at].depth; ++i)
      if (all_[i].depth == all_[at].depth + 1) found.push_back(i);
    return found;
  }
  [[nodiscard]] bool is_leaf(std::size_t at) const {
    return at + 1 == all_.size() || all_[at + 1].depth <= all_[at].depth;
  }
  /// The first object inside that has siblings, or that contains only processors.
  [[nodiscard]] std::size_t without_lone_levels(std::size_t at) const {
    while (true) {
      const auto children = inside(at);
      if (children.size() != 1 || all_[children.front()].what == kind::processor) return at;
      at = children.front();
    }
  }

  const std::vector<hardware::object>& all_;
};

}  // namespace

std::vector<place> places_of(const hardware& from) {
  HEADWAY_ASSERT(!from.objects.empty());
  std::vector<place> places;
  walk(from).add(places, 0, place_id::root);
  return places;
}

}  // namespace headway::topology
