#pragma once

#include <cstdint>
#include <mutex>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"

namespace headway::progress {

/// One who waits for a shared completion in whose word another one sits already.
struct crowd_member : base::list_hook<> {
  const void* what = nullptr;  ///< the completion's address; null: any that completes may be it
  void (*tell)(void* argument) noexcept = nullptr;
  void* argument = nullptr;
};

/// All who wait in second place, in one list: they are few, and wait for long.
/// Shape:    no memory of its own; a member lies where its thread waits.
/// Threads:  every function any thread.
/// Progress: a short lock; a load when the crowd is empty. A member's `tell` runs under it: it
///           signals or wakes, and calls nothing of ours.
/// Errors:   none. Being told may be for a completion that lay at the same address: look again.
template <class Lock = base::spinlock, template <class> class Atomic = base::atomic>
class basic_crowd {
  // Who waits joins (J) and then looks whether the completion is done (T'); who completes makes it
  // done (F) and then looks here (L). All four are seq_cst, so one sees the other. The members are
  // the lock's; each leaves by itself: when `leave` has returned it may be freed.
  // The completion itself is never touched, it may be gone: its address is a name only.
 public:
  constexpr basic_crowd() noexcept = default;
  void join(crowd_member& m) noexcept {
    const std::lock_guard hold(lock_);
    members_.push_back(m);
    count_.fetch_add(1, std::memory_order_seq_cst);  // (J)
  }
  void leave(crowd_member& m) noexcept {
    const std::lock_guard hold(lock_);
    members_.erase(m);
    count_.fetch_sub(1, std::memory_order_relaxed);  // seen late: somebody looks in vain
  }
  void tell(const void* what) noexcept {
    if (count_.load(std::memory_order_seq_cst) == 0) return;  // (L)
    const std::lock_guard hold(lock_);
    for (auto* m = members_.front(); m; m = members_.after(*m))
      if (!m->what || m->what == what) m->tell(m->argument);
  }

 private:
  Atomic<std::uint32_t> count_{0};
  Lock lock_;
  base::intrusive_list<crowd_member> members_;
};

/// The crowd of this process. Never destroyed: a thread of the program's may still complete
/// something while it exits.
extern constinit basic_crowd<> the_crowd;
[[nodiscard]] inline basic_crowd<>& crowd() noexcept { return the_crowd; }

}  // namespace headway::progress
