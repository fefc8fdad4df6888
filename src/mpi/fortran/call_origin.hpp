#pragma once

#include "mpi/abi/recording_hooks.hpp"

// Another library with the standard ABI does not have it.
#pragma weak headway_called_from

namespace headway::mpi::fortran {

/// The next call of this thread counts as made from there, if calls are recorded (HEADWAY_REPORT).
[[gnu::always_inline]] inline void count_as_called_from(const void* where) noexcept {
  if (&headway_called_from == nullptr) return;
  if (auto* const note = headway_called_from.load(std::memory_order_relaxed)) [[unlikely]]
    note(where);
}

}  // namespace headway::mpi::fortran
