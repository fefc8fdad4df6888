#include "topology/tree.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <memory>

namespace headway::topology {
namespace {

using topology_handle =
    std::unique_ptr<hwloc_topology,
                    decltype([](hwloc_topology_t t) { hwloc_topology_destroy(t); })>;

constexpr std::size_t places_max = UINT16_MAX;

const char* word_for(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_PACKAGE:
      return "package";
    case HWLOC_OBJ_DIE:
      return "die";
    case HWLOC_OBJ_L3CACHE:
      return "L3";
    case HWLOC_OBJ_CORE:
      return "core";
    case HWLOC_OBJ_PU:
      return "processor";
    default:
      return "group";
  }
}

level level_of(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_PACKAGE:
      return level::package;
    case HWLOC_OBJ_DIE:
      return level::die;
    case HWLOC_OBJ_L3CACHE:
      return level::l3;
    case HWLOC_OBJ_CORE:
    case HWLOC_OBJ_PU:
      return level::core;
    default:
      return level::machine;
  }
}

/// Keeps only the levels whose sharing matters to a queue.
void keep_levels(hwloc_topology_t t) {
  hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const auto type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE})
    hwloc_topology_set_type_filter(t, type, HWLOC_TYPE_FILTER_KEEP_ALL);
}

/// Cuts the tree to the processors that this process is bound to. Unbound or unknown: the whole.
void cut_to_binding(hwloc_topology_t t) {
  const auto bound = hwloc_bitmap_alloc();
  if (!bound) return;
  if (hwloc_get_cpubind(t, bound, HWLOC_CPUBIND_PROCESS) == 0 && !hwloc_bitmap_iszero(bound))
    hwloc_topology_restrict(t, bound, 0);
  hwloc_bitmap_free(bound);
}

base::result<topology_handle> load(const std::string& description) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return base::failed_errno("hwloc_topology_init", errno);
  topology_handle t(raw);
  keep_levels(raw);
  if (!description.empty() && hwloc_topology_set_synthetic(raw, description.c_str()) != 0)
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("hwloc does not understand topology '{}'", description));
  if (hwloc_topology_load(raw) != 0) return base::failed_errno("hwloc_topology_load", errno);
  return t;
}

/// The first object below that has siblings, or has none and is a core: what a place stands for.
hwloc_obj_t without_lone_levels(hwloc_obj_t object) {
  while (object->arity == 1 && object->first_child->type != HWLOC_OBJ_PU)
    object = object->first_child;
  return object;
}

bool is_leaf(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_CORE || object->type == HWLOC_OBJ_PU || object->arity == 0;
}

std::vector<int> processors_of(hwloc_obj_t object) {
  std::vector<int> processors;
  for (int p = hwloc_bitmap_first(object->cpuset); p >= 0; p = hwloc_bitmap_next(object->cpuset, p))
    processors.push_back(p);
  return processors;
}

void add_places(std::vector<place>& places, hwloc_obj_t object, place_id parent) {
  if (places.size() >= places_max) return;
  const auto inner = without_lone_levels(object);
  const auto named = is_leaf(inner) ? inner : object;
  const auto id = static_cast<place_id>(places.size());
  const bool root = places.empty();
  places.push_back(
      {id, root ? id : parent,
       root ? "machine"
            : fmt::format(
                  "{} {}", word_for(named->type),
                  named->os_index != HWLOC_UNKNOWN_INDEX ? named->os_index : named->logical_index),
       processors_of(object), 0, root ? level::machine : level_of(object->type)});
  if (!root) ++places[static_cast<std::size_t>(parent)].children;
  if (is_leaf(inner)) return;
  for (auto child = inner->first_child; child; child = child->next_sibling)
    add_places(places, child, id);
}

}  // namespace

base::result<tree> read_tree(const std::string& description) {
  const auto t = load(description);
  if (!t) return std::unexpected(t.error());
  tree made;
  made.processors_before_binding = hwloc_get_nbobjs_by_type(t->get(), HWLOC_OBJ_PU);
  if (description.empty()) cut_to_binding(t->get());
  add_places(made.places, hwloc_get_root_obj(t->get()), place_id::root);
  return made;
}

}  // namespace headway::topology
