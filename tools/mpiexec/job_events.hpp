#pragma once

#include <cstdint>

namespace headway::mpiexec {

/// The kinds of descriptors in the runner's epoll set. The lower half of the mark is the rank, or
/// the descriptor of a job that a rank has started.
enum class event_kind : std::uint32_t { signal, wire, process, output_finished, started_job };

[[nodiscard]] constexpr std::uint64_t mark(event_kind kind, int rank = 0) noexcept {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(rank);
}

}  // namespace headway::mpiexec
