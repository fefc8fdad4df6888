#pragma once

#include <filesystem>
#include <span>

namespace headway::topology {

/// What contains every processor to which this process is bound, by the kernel's numbers; -1:
/// nothing of that kind contains all, or the kernel does not report it.
struct binding {
  int package = -1;
  int cache = -1;  ///< the L3 cache
  int numa_node = -1;
  int core = -1;  ///< the number of its first processor

  /// For this process's affinity mask. Reads a few files for each processor of the mask, each kind
  /// up to the first that differs.
  [[nodiscard]] static binding own();
  /// For the given processors. `folder` has the layout of /sys/devices/system/cpu.
  [[nodiscard]] static binding of(std::span<const int> processors,
                                  const std::filesystem::path& folder);
};

}  // namespace headway::topology
