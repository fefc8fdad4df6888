#pragma once

#include <sched.h>

#include <ctime>

#include "base/clock.hpp"

namespace headway::base {

/// Leaves the processor to the others without paying for it: from Linux 6.18 on `sched_yield` gives
/// up the rest of the slice and is remembered: one who yields in a loop while sixteen others
/// compute waits for most of a second afterwards.
inline void nap() noexcept {
  constexpr timespec a_while{.tv_sec = 0, .tv_nsec = 50'000};
  nanosleep(&a_while, nullptr);
}

/// For a loop that waits for somebody who is inside a bounded section: `wait` once a round.
/// Shape:    one word. Threads: its own.
/// Progress: the first waits spin, a few leave the processor, because who is waited for may need
///           it, and all others sleep 50 us, because then it was lost to a third.
class backoff {
 public:
  void wait() noexcept {
    ++waits_;
    if (waits_ <= spins) {
      relax();
    } else if (waits_ <= spins + yields) {
      sched_yield();
    } else {
      nap();
    }
  }

 private:
  static constexpr unsigned spins = 64, yields = 8;
  unsigned waits_ = 0;
};

}  // namespace headway::base
