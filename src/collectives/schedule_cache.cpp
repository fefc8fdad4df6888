#include "collectives/schedule_cache.hpp"

namespace headway::collectives {

/// Trivial, so that it can be used before and after the thread's destructors run.
struct schedule_cache::shelf {
  schedule* first;
  int held;
  bool closed;
};

schedule_cache::shelf& schedule_cache::mine() noexcept {
  static thread_local shelf own;  // all zero
  struct sweeper {
    ~sweeper() {
      own.closed = true;
      while (schedule* s = own.first) {
        own.first = s->cached_next_;
        delete s;
      }
    }
  };
  static thread_local sweeper at_exit;
  (void)at_exit;
  return own;
}

schedule* schedule_cache::take() {
  shelf& own = mine();
  schedule* s = own.first;
  if (!s) return new schedule;
  own.first = s->cached_next_;
  --own.held;
  return s;
}

void schedule_cache::give(schedule* ended) noexcept {
  ended->clear();
  shelf& own = mine();
  if (own.closed || own.held >= kept_max) {
    delete ended;
    return;
  }
  ended->cached_next_ = own.first;
  own.first = ended;
  ++own.held;
}

}  // namespace headway::collectives
