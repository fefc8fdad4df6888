#include "mpi/communicators/hardware_split.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headway::mpi {
namespace {

/// The instance of the resource, on its node, to which the process is bound; -1: to none or
/// several.
int instance(const hardware_entry& of, std::string_view resource) noexcept {
  if (resource == shared_memory_resource) return 0;
  if (resource == package_resource) return of.bound.package;
  if (resource == numa_resource) return of.bound.numa_node;
  if (resource == cache_resource) return of.bound.cache;
  if (resource == core_resource) return of.bound.core;
  if (resource == process_set_resource) return of.set_first;
  return -1;
}

std::vector<int> colors_by(std::span<const hardware_entry> all, std::string_view resource) {
  std::map<std::pair<int, int>, int> known;  // by node and instance
  std::vector<int> colors;
  for (const auto& each : all) {
    const int mine = instance(each, resource);
    if (each.split_type == MPI_UNDEFINED || mine < 0) {
      colors.push_back(MPI_UNDEFINED);
      continue;
    }
    const auto next = static_cast<int>(known.size());
    const int node = resource == process_set_resource ? 0 : each.node;  // a set may span nodes
    colors.push_back(known.try_emplace({node, mine}, next).first->second);
  }
  return colors;
}

/// Whether the colors divide the processes that take part into more than one part.
bool divides(std::span<const hardware_entry> all, std::span<const int> colors) {
  const auto in_first = std::ranges::count(colors, 0);
  const auto asking =
      std::ranges::count_if(all, [](const auto& each) { return each.split_type != MPI_UNDEFINED; });
  return in_first > 0 && in_first < asking;
}

}  // namespace

std::string_view dividing_resource(std::span<const hardware_entry> all) {
  constexpr std::array widest_first = {shared_memory_resource, package_resource, numa_resource,
                                       cache_resource, core_resource};
  const auto found = std::ranges::find_if(
      widest_first, [&](auto resource) { return divides(all, colors_by(all, resource)); });
  return found == widest_first.end() ? std::string_view() : *found;
}

std::vector<int> hardware_colors(std::span<const hardware_entry> all, std::string_view resource) {
  const auto asks = [&](int type) {
    return std::ranges::any_of(all, [&](const auto& each) { return each.split_type == type; });
  };
  if (asks(MPI_COMM_TYPE_SHARED)) return colors_by(all, shared_memory_resource);
  return colors_by(all, asks(MPI_COMM_TYPE_HW_UNGUIDED) ? dividing_resource(all) : resource);
}

}  // namespace headway::mpi
