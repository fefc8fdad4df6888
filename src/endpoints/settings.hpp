#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::endpoints {

/// How HEADWAY_DISPATCH polls for messages while no thread waits; positions as in the tunable.
enum class policy : int { automatic, pause, yield, loop, event };

/// The user's settings; tunables.cpp documents each.
struct settings {
  std::size_t memory_bytes = std::size_t{4} << 30;
  bool share = true;
  bool checks = false;
  std::size_t inline_bytes = 1024;
  std::size_t pack_bytes = 2048;
  std::size_t ahead_bytes = 4 << 20;
  std::uint32_t window = 256;
  std::uint32_t queue = 1024;
  policy dispatch = policy::automatic;
  bool pack_always = false;  ///< for tests: without waiting for a burst, and on every rail

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::endpoints
