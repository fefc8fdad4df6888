#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"

namespace headway::progress {

/// Raises how the kernel's scheduler treats one thread, for as long as a thread needs it to run:
/// the thread itself, while it waits among computing threads, or another one, which waits for a
/// mask that it holds. The last `lower` restores what the thread had.
///
/// Raised, it has short slices: woken, it runs soon though every core computes. With `weight` it
/// also has the greatest weight there is, if the kernel permits (CAP_SYS_NICE or RLIMIT_NICE). With
/// slices alone, a thread that has used up its share, one in N + 1 beside N that compute, waits
/// until the others have caught up (docs/experiments/E9.md), and one that lost its processor keeps
/// its place in the order: behind 16 computing threads it is back after 60 ms, with weight after
/// 11. A thread that is created meanwhile has ordinary weight, as the program may start its
/// computing threads while weight is kept between waits (boost_cache.hpp).
/// Never real-time: if the thread that raised it loses the processor meanwhile, no other one may
/// starve.
///
/// Threads:  every function any thread.
/// Progress: a short lock, with up to three system calls inside, a microsecond together.
/// Errors:   threads in any but the ordinary class, and dead ones, are left alone.
class sched_boost {
 public:
  /// False: it was not raised (any further), and must not be lowered.
  [[nodiscard]] bool raise(pid_t thread, bool weight) noexcept;
  void lower(pid_t thread) noexcept;
  /// False: the kernel has refused it to this process.
  [[nodiscard]] static bool may_raise_weight() noexcept;

 private:
  [[nodiscard]] bool apply(pid_t thread, bool weight) const noexcept HEADWAY_REQUIRES(lock_);

  base::spinlock lock_;
  pid_t thread_ HEADWAY_GUARDED_BY(lock_) = 0;  // of another one, if the record is used again
  int raised_ HEADWAY_GUARDED_BY(lock_) = 0;    // so many times
  bool weight_ HEADWAY_GUARDED_BY(lock_) = false;
  // What the thread had before:
  std::int32_t nice_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t slice_ns_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t flags_ HEADWAY_GUARDED_BY(lock_) = 0;
};

/// Raises a thread from `ask` on, until its own end.
class scoped_boost {
 public:
  scoped_boost(sched_boost& whose, pid_t thread) noexcept : whose_(whose), thread_(thread) {}
  ~scoped_boost() {
    if (raised_) whose_.lower(thread_);
  }
  scoped_boost(const scoped_boost&) = delete;
  scoped_boost& operator=(const scoped_boost&) = delete;
  [[nodiscard]] bool asked() const noexcept { return asked_; }
  /// True: the thread is raised, from now on or before.
  bool ask(bool weight) noexcept {
    if (!asked_) raised_ = whose_.raise(thread_, weight);
    asked_ = true;
    return raised_;
  }

 private:
  sched_boost& whose_;
  const pid_t thread_;
  bool asked_ = false, raised_ = false;
};

}  // namespace headway::progress
