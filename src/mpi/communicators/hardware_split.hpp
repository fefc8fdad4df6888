#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "topology/binding.hpp"

namespace headway::mpi {

/// The resources, from the widest to the narrowest, that MPI_Comm_split_type can split by: shared
/// memory, and those that MPI_Get_hw_resource_info names.
inline constexpr std::string_view shared_memory_resource = "mpi_shared_memory";
inline constexpr std::string_view package_resource = "hwloc://Package";
inline constexpr std::string_view numa_resource = "hwloc://NUMANode";
inline constexpr std::string_view cache_resource = "hwloc://L3Cache";
inline constexpr std::string_view core_resource = "hwloc://Core";

/// The info key for the resource to split by, or, of MPI_COMM_TYPE_HW_UNGUIDED, that was split by.
inline constexpr const char* resource_hint = "mpi_hw_resource_type";

/// In place of a resource, for MPI_COMM_TYPE_RESOURCE_GUIDED: by the members of a process set.
inline constexpr std::string_view process_set_resource = "mpi_pset_name";

/// What each process contributes to a split by hardware.
struct hardware_entry {
  int split_type;
  int key;
  int node = 0;  ///< as this process numbers it
  topology::binding bound = {};
  int set_first = -1;  ///< the rank in the job of the first process of its set; -1: in no such set
};

/// The widest resource that divides the processes that take part; empty: none does.
/// Shape:    as `hardware_colors`.
[[nodiscard]] std::string_view dividing_resource(std::span<const hardware_entry> all);

/// The number of each process's part, from 0; MPI_UNDEFINED: in none, because it asks for none or
/// is not bound within one instance of the resource. MPI_COMM_TYPE_HW_GUIDED and
/// MPI_COMM_TYPE_RESOURCE_GUIDED split by `resource`; an unknown one splits nothing.
/// MPI_COMM_TYPE_HW_UNGUIDED splits by `dividing_resource`.
/// Shape:    a function of `all` alone: every process computes the same.
[[nodiscard]] std::vector<int> hardware_colors(std::span<const hardware_entry> all,
                                               std::string_view resource);

}  // namespace headway::mpi
