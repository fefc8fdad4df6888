#pragma once

#include <sched.h>

#include "base/clock.hpp"

namespace headway::collectives {

template <class Look>
[[nodiscard]] bool look_spinning(int looks, Look&& look) noexcept {
  for (; looks > 0; --looks) {
    if (look()) return true;
    base::relax();
  }
  return false;
}

/// Looks for what other ranks show: where processors are free, for about a microsecond, and for
/// some tens of them if nothing else of this process waits, because a wait begins and ends more
/// slowly; else with a few yields to other ranks on this processor. Measured by
/// bench/mpi/allreduce.c with 4, 8 and 16 ranks on 2 cores: 30 looks before each yield take 1.4
/// times as long, 1 to 50 yields make no difference. By bench/mpi/collectives.c with 8 ranks on 16
/// cores: without the longer look, an allreduce of 64 bytes took 5.7 us instead of 1.3
/// (docs/decisions/0038-ranks-on-many-cores.md).
/// Uses:     `process.begin_looking()` and `process.end_looking()` of progress::engine.
/// Errors:   false: it is not there; the caller should wait.
template <class Process, class Look>
[[nodiscard]] bool look_for_a_while(bool oversubscribed, Process& process, Look&& look) noexcept {
  constexpr int looks_yielding = 10, looks_spinning = 40, looks_alone = 1000;
  if (oversubscribed) {
    for (int i = 0; i < looks_yielding; ++i) {
      if (look()) return true;
      sched_yield();
    }
    return false;
  }
  if (look_spinning(looks_spinning, look)) return true;
  if (!process.begin_looking()) return false;
  const bool found = look_spinning(looks_alone, look);
  process.end_looking();
  return found;
}

}  // namespace headway::collectives
