#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/result.hpp"

namespace headway::sampling {

/// Why a measured time cannot be that of a rail.
enum class doubt : std::uint32_t {
  none,
  not_above_empty,  ///< bytes took no longer than none
  spread,           ///< most repetitions took many times as long as the fastest, and differ
  above_memory,     ///< a higher rate than that of this machine's memory
};

/// The reference for the times of one size.
struct plausible_range {
  double empty_ns = 0;          ///< the time of the same exchange without bytes
  double bytes_per_ns_max = 0;  ///< of memory
  double clock_ns = 0;          ///< times that differ by less may be the same: `clock_read_ns`
};

/// The result of repeated exchanges of one size.
struct reading {
  double ns = 0;  ///< the lower quartile: turns of other programs are not the rail's time
  doubt why = doubt::none;
};

/// Shape:    reorders `times_ns`, which must not be empty.
/// Threads:  any.
/// Source:   experience with short measurements on busy machines: `headway sample` with more
///           running threads than cores.
[[nodiscard]] reading read(std::span<double> times_ns, std::uint64_t bytes,
                           const plausible_range& within);

/// Measures until a reading is plausible, at most `attempts` times. `measure` returns a result of a
/// reading; `again(why)`, called before each repetition, may change the reference.
template <class Measure, class Again>
[[nodiscard]] auto read_until_plausible(int attempts, Measure measure, Again again)
    -> decltype(measure()) {
  HEADWAY_ASSERT(attempts >= 1);
  auto found = measure();
  for (int i = 1; i < attempts && found && found->why != doubt::none; ++i) {
    if (auto ready = again(found->why); !ready) return std::unexpected(std::move(ready).error());
    found = measure();
  }
  return found;
}

/// The least time between two reads of the clock. Takes some 20 us.
[[nodiscard]] double clock_read_ns();

/// The rate of a copy inside the processor's cache: no rail is faster. Takes some 100 us.
[[nodiscard]] double memory_bytes_per_ns();

/// For users: "1024 bytes took no longer than none".
[[nodiscard]] std::string text_of(doubt why, std::uint64_t bytes);

}  // namespace headway::sampling
