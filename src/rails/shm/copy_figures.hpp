#pragma once

#include <cstdint>

#include "base/copy_cost.hpp"
#include "rails/memory.hpp"

namespace headway::rails::shm {

/// How long copies of large payloads between this process and one peer take. The peer is taken to
/// fill its buffers as fast as this process does, so that both parts of its puts are known here.
/// Threads:  any.
struct copy_figures {
  /// Of this many pieces, one is timed.
  static constexpr std::uint64_t timed_period = 4;
  /// A get of fewer bytes says more of the system call than of the copy.
  static constexpr std::size_t timed_get_min = 64 * 1024;

  base::copy_cost fills;    ///< of buffers in the peer's segment
  base::copy_cost empties;  ///< of buffers that the peer has filled
  base::copy_cost gets;     ///< of the peer's memory, by the kernel

  [[nodiscard]] copy_costs all() const noexcept {
    const bool known = fills.ns() != 0 && empties.ns() != 0;
    return {.put = known ? fills.ns() + empties.ns() : 0, .get = gets.ns()};
  }
};

}  // namespace headway::rails::shm
