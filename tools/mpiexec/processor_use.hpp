#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace headway::mpiexec {

/// What the threads of a process have had of processors, and those of the processes that it has
/// started, as a script starts its program. Only threads that live now count.
struct processor_use {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;  ///< they could have run, and another thread had the processor
};

/// Reads it from /proc: two small files for each thread.
/// Threads:  any.
/// Errors:   nothing: the process has ended, or the kernel does not count this.
[[nodiscard]] std::optional<processor_use> use_of(pid_t process);

/// Those threads that may use exactly the processors `from` may use those of `to` from now on.
/// Threads:  any.
/// Errors:   a thread that has ended, or that the kernel refuses to move, is left out.
void change_processors(pid_t process, const cpu_set_t& from, const cpu_set_t& to);

}  // namespace headway::mpiexec
