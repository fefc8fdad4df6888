#pragma once

#include <sched.h>

#include <ctime>

#include "base/clock.hpp"

namespace headway::base {

/// Sleeps for 50 us, so that other threads get the processor. Not `sched_yield`: from Linux 6.18 on
/// that gives up the rest of the slice, and a thread that yields in a loop while sixteen others
/// compute then waits for most of a second.
inline void nap() noexcept {
  constexpr timespec a_while{.tv_sec = 0, .tv_nsec = 50'000};
  nanosleep(&a_while, nullptr);
}

/// Paces a loop that waits until another thread leaves a short section: one `wait` a round.
/// Shape:    one word.
/// Threads:  one.
/// Progress: the first calls spin; a few yield, because the other thread may need this processor;
///           all further ones sleep 50 us, because a third thread has taken it.
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
