#pragma once

#include "base/atomic.hpp"

namespace headway::progress {

/// What a process may leave undone until one of its threads waits or polls: nothing depends on it
/// while all of them compute.
/// Shape:    one function, which does all of it.
/// Threads:  `set` while no other thread uses the engine; the others any.
/// Progress: `run` is a load while there is none. The function must neither wait nor poll.
class deferred_work {
  // Edge (D): what a thread has noted before `defer` is seen by the function that follows it.
 public:
  using function = void (*)(void* argument) noexcept;

  void set(function what, void* argument) noexcept {
    what_ = what;
    argument_ = argument;
  }
  void defer() noexcept { any_.store(true, std::memory_order_release); }  // (D)
  void run() noexcept {
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]  // a hint
      run_now();
  }

 private:
  [[gnu::noinline]] void run_now() noexcept {
    if (any_.exchange(false, std::memory_order_acquire) && what_) what_(argument_);  // (D)
  }

  base::atomic<bool> any_{false};
  function what_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace headway::progress
