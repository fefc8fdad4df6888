#pragma once

#include <sys/types.h>

#include <vector>

namespace headway::tool {

struct top_options {
  std::vector<pid_t> processes;  ///< none: all of this user's that show something
  double period_s = 1;           ///< between two looks
  bool once = false;
  bool json = false;  ///< once, as an array with an object a process
};

/// `headway top`: what running processes count, live. They must run with HEADWAY_STATS.
/// Returns the exit status.
int top(const top_options& wanted);

}  // namespace headway::tool
