#include "topology/binding.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <vector>

namespace headway::topology {
namespace {

/// The number in the file `name` of each processor's folder; -1 if they differ or one is missing.
int common_number(std::span<const int> processors, const std::filesystem::path& folder,
                  const char* name) {
  int common = -1;
  for (const int each : processors) {
    int number = -1;
    if (!(std::ifstream(folder / fmt::format("cpu{}", each) / name) >> number)) return -1;
    if (each != processors.front() && number != common) return -1;
    common = number;
  }
  return common;
}

}  // namespace

binding binding::own() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  std::vector<int> processors;
  for (int p = 0; p < CPU_SETSIZE; ++p)
    if (CPU_ISSET(p, &mask)) processors.push_back(p);
  return of(processors, "/sys/devices/system/cpu");
}

binding binding::of(std::span<const int> processors, const std::filesystem::path& folder) {
  return {.package = common_number(processors, folder, "topology/physical_package_id"),
          .cache = common_number(processors, folder, "cache/index3/id")};
}

}  // namespace headway::topology
