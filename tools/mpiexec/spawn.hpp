#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <vector>

namespace headway::mpiexec {

/// How a rank's process is started. Pointers must be valid until `spawn` returns.
struct child_plan {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  ///< null: stays where we are
  int input = -1;                   ///< becomes descriptor 0; -1: ours
  int output = -1, error = -1;      ///< become 1 and 2; -1: ours
  int kept = -1;                    ///< stays open in the child under its number
  sigset_t signal_mask{};
  const rlimit* descriptor_limit = nullptr;           ///< null: ours
  const std::vector<int>* ignored_signals = nullptr;  ///< that get their default back
};

struct child {
  pid_t pid = -1;
  int error_number = 0;   ///< 0, or why there is no child
  const char* step = "";  ///< the call that failed
};

/// Starts a process in a group of its own that is killed when this thread ends, however it ends.
/// Threads:  one.
/// Progress: waits until the child has executed its program (the parent is suspended, nothing is
///           copied: this is what keeps a start in the tenths of a millisecond).
[[nodiscard]] child spawn(const child_plan& plan) noexcept;

}  // namespace headway::mpiexec
