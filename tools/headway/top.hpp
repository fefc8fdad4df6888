#pragma once

#include <sys/types.h>

#include <vector>

namespace headway::tool {

struct top_options {
  std::vector<pid_t> processes;  ///< empty: all of this user's that publish statistics
  double period_s = 1;           ///< between two updates
  bool once = false;             ///< tables, as text
  bool json = false;             ///< once, as an array with one object for each process
};

/// `headway top`: the statistics of running processes, live. They must run with HEADWAY_STATS. On a
/// terminal a full screen; otherwise a line of JSON for each process and look.
/// Returns the exit status.
int top(const top_options& wanted);

}  // namespace headway::tool
