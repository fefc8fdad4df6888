#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headway::windows {

/// How an origin reaches the memory of a target, the quickest last.
enum class way : std::uint8_t {
  wire,    ///< packets, which the target's engine serves
  nearby,  ///< the kernel copies between the two processes (rails::memory, `direct`)
  mapped,  ///< the memory is mapped here, or is this process's own
};

inline constexpr std::size_t ways = 3;
/// As HEADWAY_WINDOWS names it.
[[nodiscard]] std::string_view name_of(way which) noexcept;

/// What the user chose.
struct settings {
  way best = way::mapped;  ///< HEADWAY_WINDOWS: quicker ways are not used

  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::windows
