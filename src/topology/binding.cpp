#include "topology/binding.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace headway::topology {
namespace {

namespace fs = std::filesystem;

/// The number with which the file begins; -1: none.
int number_in(const fs::path& file) {
  int number = -1;
  return std::ifstream(file) >> number ? number : -1;
}

/// The NUMA node of a processor: its folder has a link of this name; -1: none.
int numa_node_in(const fs::path& folder) {
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder, error)) {
    const std::string name = each.path().filename();
    int number = -1;
    if (!name.starts_with("node")) continue;
    const auto [end, bad] = std::from_chars(name.data() + 4, name.data() + name.size(), number);
    if (bad == std::errc() && end == name.data() + name.size()) return number;
  }
  return -1;
}

/// What `number_of` reads from each processor's folder; -1 if they differ or one has no number.
template <class NumberOf>
int common_number(std::span<const int> processors, const fs::path& folder, NumberOf number_of) {
  int common = -1;
  for (const int each : processors) {
    const int number = number_of(folder / fmt::format("cpu{}", each));
    if (number < 0) return -1;
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
  const auto common = [&](const char* file) {
    return common_number(processors, folder,
                         [&](const fs::path& own) { return number_in(own / file); });
  };
  return {.package = common("topology/physical_package_id"),
          .cache = common("cache/index3/id"),
          .numa_node = common_number(processors, folder, numa_node_in),
          .core = common("topology/thread_siblings_list")};
}

}  // namespace headway::topology
