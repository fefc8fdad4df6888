#pragma once

#include <cstdint>
#include <span>

#include "mpi/environment/library.hpp"
#include "mpi/one_sided/window.hpp"
#include "report/call_timeline.hpp"

/// What the timeline shows of windows, within a call that is traced.
namespace headway::mpi {

namespace detail {
[[gnu::cold]] void trace_access(const window& win, int rank, std::uint64_t bytes);
[[gnu::cold]] void trace_signals(const window& win, report::traced_message::sort what,
                                 std::span<const int> ranks, bool receives);
}  // namespace detail

/// The present call concerns this rank (-1: all) of the window, and moves so many bytes.
inline void trace_access(const window& win, int rank, std::uint64_t bytes = 0) {
  if (recording()) [[unlikely]]
    detail::trace_access(win, rank, bytes);
}

/// The present call tells these ranks that an epoch begins or ends, or has learnt it from them.
inline void trace_signals(const window& win, report::traced_message::sort what,
                          std::span<const int> ranks, bool receives) {
  if (recording()) [[unlikely]]
    detail::trace_signals(win, what, ranks, receives);
}

}  // namespace headway::mpi
