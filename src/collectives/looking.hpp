#pragma once

#include <sched.h>

#include "base/clock.hpp"

namespace headway::collectives {

/// Spins until `look()` is true, for so many looks. False: it never was.
template <class Look>
[[nodiscard]] bool look_spinning(int looks, Look&& look) noexcept {
  for (; looks > 0; --looks) {
    if (look()) return true;
    base::relax();
  }
  return false;
}

/// Looks for what other ranks show. Where processors are free, it spins for about a microsecond,
/// and for some tens of them if nothing else of this process waits, because a wait begins and ends
/// more slowly. Otherwise it yields a few times to other ranks on this processor. Measured by
/// bench/mpi/allreduce.c with 4, 8 and 16 ranks on 2 cores: 30 looks before each yield take 1.4
/// times as long, 1 to 50 yields make no difference. By bench/mpi/collectives.c with 8 ranks on 16
/// cores: without the longer spin, an allreduce of 64 bytes took 5.7 us instead of 1.3
/// (docs/decisions/0038-ranks-on-many-cores.md).
///
/// Shape:    `process` is the progress::engine, or passes `begin_lone_spin` and `end_lone_spin` on
///           to it.
/// Threads:  any.
/// Progress: none meanwhile; ends by itself.
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
  if (!process.begin_lone_spin()) return false;
  const bool found = look_spinning(looks_alone, look);
  process.end_lone_spin();
  return found;
}

}  // namespace headway::collectives
