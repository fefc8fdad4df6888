#pragma once

#include "report/part.hpp"

namespace headway::report {

/// Fills in what the system knows of this process: host, program, threads and the processors that
/// they may run on.
void describe_this_process(part& of);

}  // namespace headway::report
