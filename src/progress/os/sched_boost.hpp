#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"

namespace headway::progress {

/// Raises the treatment of one thread by the kernel's scheduler, for as long as it needs to run:
/// the thread itself, while it waits among computing threads, or another one, which waits for a
/// mask that the thread holds. The last `lower` restores the original treatment.
///
/// A raised thread has short slices: when woken it runs soon, even if every core computes. With
/// `weight` it also has the greatest weight, if the kernel permits (CAP_SYS_NICE or RLIMIT_NICE).
/// With slices alone, a thread that has used up its share, one in N + 1 among N that compute, waits
/// until the others have caught up (docs/experiments/E9.md), and one that has lost its processor
/// keeps its place in the order: behind 16 computing threads it runs after 60 ms, with weight after
/// 11. Threads created meanwhile have ordinary weight, because the program may start its computing
/// threads while weight is kept between waits (boost_cache.hpp).
/// Never real-time: if the raising thread loses its processor meanwhile, no other thread may
/// starve.
///
/// Threads:  every function any thread.
/// Progress: a short lock, with up to three system calls inside, a microsecond together.
/// Errors:   threads in any other than the ordinary class, and dead ones, are not changed.
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
  pid_t thread_ HEADWAY_GUARDED_BY(lock_) = 0;  // the record may be reused for another thread
  int raised_ HEADWAY_GUARDED_BY(lock_) = 0;    // nesting depth
  bool weight_ HEADWAY_GUARDED_BY(lock_) = false;
  // The original treatment:
  std::int32_t nice_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t slice_ns_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t flags_ HEADWAY_GUARDED_BY(lock_) = 0;
};

/// Raises a thread from `ask` on, until its destructor.
class scoped_boost {
 public:
  scoped_boost(sched_boost& whose, pid_t thread) noexcept : whose_(whose), thread_(thread) {}
  ~scoped_boost() {
    if (raised_) whose_.lower(thread_);
  }
  scoped_boost(const scoped_boost&) = delete;
  scoped_boost& operator=(const scoped_boost&) = delete;
  [[nodiscard]] bool asked() const noexcept { return asked_; }
  /// True: the thread is raised, now or already before.
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
