#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"

namespace headway::progress {

/// How the kernel's scheduler treats a thread, raised by those who need it to run: the thread
/// itself while it waits among computing threads, another one that waits for a mask that it holds.
/// What the thread had comes back with the last of them.
///
/// Raised, it has short slices: woken, it runs soon though every core computes. With `weight` it
/// also has the greatest weight there is, if the kernel permits (CAP_SYS_NICE or RLIMIT_NICE): with
/// slices alone who has used up its share, one in N + 1 beside N that compute, waits until the
/// others have caught up (docs/experiments/E9.md), and one that lost its processor keeps its place
/// in the order: behind 16 computing threads it is back after 60 ms, with weight after 11.
/// A thread that is made meanwhile has ordinary weight, as the program may make its computing
/// threads while weight is kept between waits (kept_weight.hpp).
/// Never real-time: if who raises it loses the processor meanwhile, nobody must starve.
///
/// Threads:  every function any thread.
/// Progress: a short lock, with up to three system calls inside, a microsecond together.
/// Errors:   threads in any but the ordinary class, and dead ones, are left alone.
class standing {
 public:
  /// False: it was not raised (any further), and must not be lowered.
  [[nodiscard]] bool raise(pid_t thread, bool weight) noexcept;
  void lower(pid_t thread) noexcept;
  /// False: the kernel has refused it to this process.
  [[nodiscard]] static bool may_have_weight() noexcept;

 private:
  [[nodiscard]] bool apply(pid_t thread, bool weight) const noexcept;

  base::spinlock lock_;  // guards the rest
  pid_t thread_ = 0;     // whose standing this is: records are used again
  int raised_ = 0;       // by so many
  bool weight_ = false;
  std::int32_t nice_ = 0;  // what it had, and so below
  std::uint64_t slice_ns_ = 0;
  std::uint64_t flags_ = 0;
};

/// Raises a standing from `ask` on, until its own end.
class preferred {
 public:
  preferred(standing& whose, pid_t thread) noexcept : whose_(whose), thread_(thread) {}
  ~preferred() {
    if (raised_) whose_.lower(thread_);
  }
  preferred(const preferred&) = delete;
  preferred& operator=(const preferred&) = delete;
  [[nodiscard]] bool asked() const noexcept { return asked_; }
  /// True: it is preferred, from now on or before.
  bool ask(bool weight) noexcept {
    if (!asked_) raised_ = whose_.raise(thread_, weight);
    asked_ = true;
    return raised_;
  }

 private:
  standing& whose_;
  const pid_t thread_;
  bool asked_ = false, raised_ = false;
};

}  // namespace headway::progress
