#pragma once

#include <string_view>

namespace headway::base {

/// Whether this process is the first of its job to ask for this text, so that a line that all ranks
/// would print is printed once. Only Headway's mpiexec makes that possible, which removes the marks
/// afterwards; where something else started the process, the answer is yes.
/// Threads:  any.
/// Progress: creates an empty file in shared memory.
[[nodiscard]] bool first_of_job(std::string_view text) noexcept;

}  // namespace headway::base
