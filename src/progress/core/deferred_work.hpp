#pragma once

#include "base/atomic.hpp"

namespace headway::progress {

/// What a process may leave undone until one of its threads waits or polls: nothing depends on it
/// while all of them compute.
/// Shape:    one function, which does all of it.
/// Threads:  `set` while no other thread uses the engine; the others any.
/// Progress: `run` is a load while there is none. The function must neither wait nor poll.
template <template <class> class Atomic = base::atomic>
class basic_deferred_work {
  // The work is noted under a lock, which the function takes, too. Hazard: work that is noted while
  // the function runs is never done. (R) clears the flag before the function takes the lock. If the
  // function has the lock before the thread that notes the work, then (D) happens after (R), and
  // the flag is set again. So the lock orders the flag, too, and (D) and (R) are relaxed.
  // Checked by: tests/model/deferred_work_model.cpp.
 public:
  using function = void (*)(void* argument) noexcept;

  void set(function what, void* argument) noexcept {
    what_ = what;
    argument_ = argument;
  }
  /// Has the function called by a thread that waits or polls. After the work was noted.
  void defer() noexcept { any_.store(true, std::memory_order_relaxed); }  // (D)
  void run() noexcept {
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]  // a hint
      run_now();
  }

 private:
  [[gnu::noinline]] void run_now() noexcept {
    if (any_.exchange(false, std::memory_order_relaxed) && what_) what_(argument_);  // (R)
  }

  Atomic<bool> any_{false};
  function what_ = nullptr;
  void* argument_ = nullptr;
};

using deferred_work = basic_deferred_work<>;

}  // namespace headway::progress
