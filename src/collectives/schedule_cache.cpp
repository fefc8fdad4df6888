#include "collectives/schedule_cache.hpp"

namespace headway::collectives {

/// Trivial, so that it can be used before and after the thread's destructors run.
struct schedule_cache::spare_list {
  schedule_run* first;
  int held;
  bool closed;
};

schedule_cache::spare_list& schedule_cache::of_thread() noexcept {
  static thread_local spare_list own;  // all zero
  struct at_thread_exit {
    ~at_thread_exit() {
      own.closed = true;
      while (schedule_run* s = own.first) {
        own.first = s->cached_next_;
        delete s;
      }
    }
  };
  static thread_local at_thread_exit at_exit;
  (void)at_exit;
  return own;
}

schedule_run* schedule_cache::take() {
  spare_list& own = of_thread();
  schedule_run* s = own.first;
  if (!s) return new schedule_run;
  own.first = s->cached_next_;
  --own.held;
  return s;
}

void schedule_cache::give(schedule_run* ended) noexcept {
  ended->recycle();
  spare_list& own = of_thread();
  if (own.closed || own.held >= kept_max) {
    delete ended;
    return;
  }
  ended->cached_next_ = own.first;
  own.first = ended;
  ++own.held;
}

}  // namespace headway::collectives
