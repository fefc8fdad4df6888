#pragma once

#include <cstddef>

#include "mpi/objects/info.hpp"

namespace headway::mpi {

/// The info key for the alignment of memory that MPI allocates (MPI-5.0 section 9.2).
inline constexpr const char* minimum_alignment_hint = "mpi_minimum_memory_alignment";

/// The alignment in bytes that is asked for; 1: none is, or the value is no power of two up to
/// 1 GB. `hints` may be null.
[[nodiscard]] std::size_t minimum_alignment(const info* hints);

}  // namespace headway::mpi
