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
inline constexpr std::string_view cache_resource = "hwloc://L3Cache";

/// What each process contributes to a split by hardware.
struct hardware_entry {
  int split_type;
  int key;
  int node;
  topology::binding bound;
};

/// The number of each process's part, from 0; MPI_UNDEFINED: in none, because it asks for none or
/// is not bound within one instance of the resource. MPI_COMM_TYPE_HW_GUIDED splits by `resource`;
/// an unknown one splits nothing. MPI_COMM_TYPE_HW_UNGUIDED splits by the widest resource that
/// divides the processes.
/// Shape:    a function of `all` alone: every process computes the same.
[[nodiscard]] std::vector<int> hardware_colors(std::span<const hardware_entry> all,
                                               std::string_view resource);

}  // namespace headway::mpi
