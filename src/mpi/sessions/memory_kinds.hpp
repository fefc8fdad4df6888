#pragma once

#include <string>
#include <string_view>

#include "mpi/sessions/session_origin.hpp"

namespace headway::mpi {

/// The info key for the kinds of memory that buffers may be in (MPI-5.0 section 11.4.3).
inline constexpr const char* memory_kinds_hint = "mpi_memory_alloc_kinds";

/// The kinds that a session supports: `mpi` and `system`, and of those that were requested the
/// supported ones with restrictors, such as `mpi:alloc_mem`.
[[nodiscard]] std::string supported_memory_kinds(std::string_view requested);

/// The value of `memory_kinds_hint` for objects of this origin.
[[nodiscard]] std::string memory_kinds_of(const session_origin_ref& origin);

}  // namespace headway::mpi
