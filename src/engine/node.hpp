#pragma once

#include <string>
#include <vector>

namespace headway::engine {

/// Where a process runs, in bytes that are equal for two processes exactly if they share it.
struct whereabouts {
  std::string kernel;  ///< processors: one running kernel
  std::string memory;  ///< that, and the same /dev/shm

  [[nodiscard]] static whereabouts own();
};

/// Numbers equal texts alike, in the order in which they first come: {"b", "a", "b"} → {0, 1, 0}.
[[nodiscard]] std::vector<int> number_by_equality(const std::vector<std::string>& texts);

}  // namespace headway::engine
