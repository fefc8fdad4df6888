#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace headway::sampling {

/// Why a measured time cannot be what a rail takes.
enum class doubt : std::uint32_t {
  none,
  not_above_empty,  ///< bytes took no longer than none
  spread,           ///< most repetitions took many times what the quickest did, and differ
  above_memory,     ///< a higher rate than that of this machine's memory
};

/// What a time of one size is judged by.
struct plausible_range {
  double empty_ns = 0;          ///< what the same exchange takes without bytes
  double bytes_per_ns_max = 0;  ///< of memory
};

/// What repeated exchanges of one size say.
struct reading {
  double ns = 0;  ///< the lower quartile: what another program's turn takes is not the rail's
  doubt why = doubt::none;
};

/// Shape:    reorders `times_ns`, which must not be empty.
/// Threads:  any.
/// Source:   the resonance of busy machines with short measurements: `headway sample` on a machine
///           with more running threads than cores.
[[nodiscard]] reading read(std::span<double> times_ns, std::uint64_t bytes,
                           const plausible_range& within);

/// Measures until a reading is plausible, at most `attempts` times. `measure` returns a result of a
/// reading; `again(why)`, called before each repetition, may change what it is judged by.
template <class Measure, class Again>
[[nodiscard]] auto read_until_plausible(int attempts, Measure measure, Again again)
    -> decltype(measure()) {
  auto found = measure();
  for (int i = 1; i < attempts && found && found->why != doubt::none; ++i) {
    if (auto ready = again(found->why); !ready) return std::unexpected(std::move(ready).error());
    found = measure();
  }
  return found;
}

/// The rate of a copy inside the processor's cache: no rail is quicker. Takes some 100 us.
[[nodiscard]] double memory_bytes_per_ns();

/// For a user: "1024 bytes took no longer than none".
[[nodiscard]] std::string text_of(doubt why, std::uint64_t bytes);

}  // namespace headway::sampling
