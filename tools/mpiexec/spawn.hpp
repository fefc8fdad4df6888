#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace headway::mpiexec {

/// The arguments of a rank's process. Pointers must be valid until `spawn` returns.
struct child_plan {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  ///< null: the parent's
  int input = -1;                   ///< becomes descriptor 0; -1: the parent's
  int output = -1, error = -1;      ///< become 1 and 2; -1: the parent's
  int kept = -1;                    ///< stays open in the child under its number
  sigset_t signal_mask{};
  const rlimit* descriptor_limit = nullptr;           ///< null: the parent's
  const std::vector<int>* ignored_signals = nullptr;  ///< reset to their defaults
  const cpu_set_t* processors = nullptr;              ///< it may run on; null: the parent's
};

/// An exit code is this plus the number of the signal that has ended a process.
inline constexpr int exit_signal_base = 128;

/// As `child_plan` has them. Valid as long as the texts.
[[nodiscard]] std::vector<char*> pointers_to(const std::vector<std::string>& texts);

struct child {
  pid_t pid = -1;
  int error_number = 0;   ///< 0, or why there is no child
  const char* step = "";  ///< the call that failed
};

/// Starts a process, in a new process group, that the kernel kills when this thread ends.
/// Threads:  one.
/// Progress: waits until the child has executed its program, some tenths of a millisecond: the
///           parent is suspended, and nothing is copied.
[[nodiscard]] child spawn(const child_plan& plan) noexcept;

}  // namespace headway::mpiexec
