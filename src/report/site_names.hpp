#pragma once

#include <string>
#include <vector>

#include "report/part.hpp"

namespace headway::report {

/// The names of call sites: "solve at heat.c:41", "solve+0x1c2 in heat", "heat+0x4c21", by what is
/// known. Source lines need `addr2line`, and programs with debug information.
/// Progress: starts a process for each program or library, and waits up to seconds for it.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<call_site>& sites);

}  // namespace headway::report
