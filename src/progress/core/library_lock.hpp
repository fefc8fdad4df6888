#pragma once

#include "base/assert.hpp"
#include "base/spinlock.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// The lock of HEADWAY_LOCKING=coarse, held in each call and each polling round: to measure, as the
/// papers do, what locking costs.
/// Shape:    a recursive spinlock: the record of the thread counts how often it holds the lock.
/// Threads:  every function any thread.
/// Progress: `enter` waits as a spinlock does. If it is not used, a `section` costs one load of a
///           constant and two predicted branches (docs/decisions/0041-modes-to-measure-with.md).
class library_lock {
 public:
  explicit library_lock(bool used) noexcept : used_(used) {}

  // Not analysed: whether the lock is taken depends on the thread's count.
  void enter(thread_record& me) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    if (me.library_depth++ == 0) lock_.lock();
  }
  void leave(thread_record& me) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    HEADWAY_DEBUG_ASSERT(me.library_depth > 0);
    if (--me.library_depth == 0) lock_.unlock();
  }

  /// Holds the lock during its lifetime, if the lock is used.
  class section {
   public:
    section(library_lock& lock, thread_record& me) noexcept
        : lock_(lock.used_ ? &lock : nullptr), me_(me) {
      if (lock_) [[unlikely]]
        lock_->enter(me_);
    }
    ~section() {
      if (lock_) [[unlikely]]
        lock_->leave(me_);
    }
    section(const section&) = delete;
    section& operator=(const section&) = delete;

   private:
    library_lock* const lock_;
    thread_record& me_;
  };

 private:
  const bool used_;
  base::spinlock lock_;
};

}  // namespace headway::progress
