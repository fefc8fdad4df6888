#include "topology/hwloc_library.hpp"

#include "base/shared_library.hpp"

namespace headway::topology {

base::result<hwloc_library> hwloc_library::load() {
  const auto library = base::shared_library::load("libhwloc.so.15", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return std::unexpected(library.error());
  hwloc_library made;
  const auto found = library->find(
      "hwloc_topology_init", made.init, "hwloc_topology_destroy", made.destroy,
      "hwloc_topology_set_all_types_filter", made.set_all_types_filter,
      "hwloc_topology_set_type_filter", made.set_type_filter, "hwloc_topology_set_components",
      made.set_components, "hwloc_topology_set_synthetic", made.set_synthetic,
      "hwloc_topology_load", made.load_topology, "hwloc_get_obj_by_depth", made.object_at,
      "hwloc_bitmap_next", made.next_in);
  if (!found) return std::unexpected(found.error());
  return made;
}

}  // namespace headway::topology
