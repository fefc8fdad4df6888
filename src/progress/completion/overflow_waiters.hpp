#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"

namespace headway::progress {

/// A thread that waits for a shared completion whose word names another waiter.
struct overflow_waiter : base::list_hook<> {
  const void* what = nullptr;  ///< the completion's address; null: any completion may be the one
  void (*tell)(void* argument) noexcept = nullptr;
  void* argument = nullptr;
};

/// Overflow list for the second and later waiters on shared completions.
/// Shape:    no memory of its own; a member is on its thread's stack. One list, because they are
///           few.
/// Threads:  every function any thread.
/// Progress: a short lock; only a load when the list is empty. A member's `tell` runs under the
///           lock: it signals or wakes, and calls no other function of this library.
/// Errors:   none. A member may be signalled for an earlier completion at the same address: look
///           again.
template <class Lock = base::spinlock, template <class> class Atomic = base::atomic>
class basic_overflow_waiters {
  // A waiter joins (J) and then checks whether the completion is done (T'); the completing thread
  // makes it done (F) and then reads the list (L). All four are seq_cst, so one sees the other. The
  // lock guards the members; each leaves by itself and may be freed when `leave` has returned. The
  // completion itself is never accessed, because it may be gone: its address only identifies it.
  // Checked by: tests/model/overflow_waiters_model.cpp.
 public:
  constexpr basic_overflow_waiters() noexcept = default;
  void join(overflow_waiter& m) noexcept {
    const base::lock_guard hold(lock_);
    members_.push_back(m);
    count_.fetch_add(1, std::memory_order_seq_cst);  // (J)
  }
  void leave(overflow_waiter& m) noexcept {
    const base::lock_guard hold(lock_);
    members_.erase(m);
    count_.fetch_sub(1, std::memory_order_relaxed);  // seen late: one check in vain
  }
  void tell(const void* what) noexcept {
    if (count_.load(std::memory_order_seq_cst) == 0) return;  // (L)
    const base::lock_guard hold(lock_);
    for (auto* m = members_.front(); m; m = members_.after(*m))
      if (!m->what || m->what == what) m->tell(m->argument);
  }

 private:
  Atomic<std::uint32_t> count_{0};
  Lock lock_;
  base::intrusive_list<overflow_waiter> members_ HEADWAY_GUARDED_BY(lock_);
};

/// The list of this process. Never destroyed: a thread of the program may still complete something
/// while the program exits.
extern constinit basic_overflow_waiters<> the_overflow_waiters;
[[nodiscard]] inline basic_overflow_waiters<>& overflow() noexcept { return the_overflow_waiters; }

}  // namespace headway::progress
