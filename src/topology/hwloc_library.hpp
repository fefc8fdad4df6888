#pragma once

#include <hwloc.h>

#include "base/result.hpp"

namespace headway::topology {

/// The functions of libhwloc that are used here, loaded on demand: only one process of a node pays
/// for loading the library.
struct hwloc_library {
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_topology_set_all_types_filter) set_all_types_filter = nullptr;
  decltype(&hwloc_topology_set_type_filter) set_type_filter = nullptr;
  decltype(&hwloc_topology_set_components) set_components = nullptr;
  decltype(&hwloc_topology_set_synthetic) set_synthetic = nullptr;
  decltype(&hwloc_topology_load) load_topology = nullptr;
  decltype(&hwloc_get_obj_by_depth) object_at = nullptr;
  decltype(&hwloc_bitmap_next) next_in = nullptr;

  /// Errors:   `unsupported` with the loader's reason.
  [[nodiscard]] static base::result<hwloc_library> load();
};

}  // namespace headway::topology
