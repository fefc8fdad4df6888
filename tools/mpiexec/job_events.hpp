#pragma once

#include <cstdint>

namespace headway::mpiexec {

/// The kinds of descriptors in the runner's epoll set; the lower half of the mark is the rank.
enum class event_kind : std::uint32_t { signal, wire, process, output_finished };

[[nodiscard]] constexpr std::uint64_t mark(event_kind kind, int rank = 0) noexcept {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(rank);
}

}  // namespace headway::mpiexec
