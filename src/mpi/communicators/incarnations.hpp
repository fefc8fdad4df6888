#pragma once

#include <cstdint>

namespace headway::mpi {

/// A number that tells communicators apart that have the same context id one after the other: this
/// process's contribution to an agreement, of which the largest contribution is the result.
/// Larger than that of every communicator that this process was in, also with processes of other
/// jobs: a clock after Lamport, "Time, Clocks, and the Ordering of Events", 1978.
/// Threads:  any.
[[nodiscard]] std::uint64_t new_incarnation() noexcept;
/// One that an agreement has chosen.
void note_incarnation(std::uint64_t chosen) noexcept;

}  // namespace headway::mpi
