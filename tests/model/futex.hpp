#pragma once

#include "relacy_atomic.hpp"

namespace headway::model {

/// The kernel's futex for models, over words of any type. Without spurious wake-ups, so that a
/// missing wake-up is a deadlock.
template <class T>
void futex_wait(rl::atomic<T>& word, T expected) {
  auto& c = rl::ctx();
  c.sched();
  c.atomic_thread_fence_seq_cst();
  T now;
  {
    rl::preemption_disabler alone(c);
    now = word.load(std::memory_order_acquire);
  }
  if (now == expected) word.wait(c, false, false, $);
}

template <class T>
void futex_wake(rl::atomic<T>& word, unsigned count) {
  auto& c = rl::ctx();
  c.sched();
  c.atomic_thread_fence_seq_cst();
  word.wake(c, count, $);
}

}  // namespace headway::model
