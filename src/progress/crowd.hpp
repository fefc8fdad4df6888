#pragma once

#include <mutex>

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
/// Progress: a short lock; `tell` runs under it: it signals or wakes, and calls nothing of ours.
/// Errors:   none. Being told may be for a completion that lay at the same address: look again.
template <class Lock = base::spinlock>
class basic_crowd {
  // Who waits joins, then looks whether the completion is done; who completes makes it done, then
  // comes here. Both take the lock, and the later of the two sees what the other did. A member is
  // read under the lock only, and leaves by itself: when `leave` has returned it may be freed.
  // The completion itself is never touched, it may be gone: its address is a name only.
 public:
  void join(crowd_member& m) noexcept {
    const std::lock_guard hold(lock_);
    members_.push_back(m);
  }
  void leave(crowd_member& m) noexcept {
    const std::lock_guard hold(lock_);
    members_.erase(m);
  }
  void tell(const void* what) noexcept {
    const std::lock_guard hold(lock_);
    for (auto* m = members_.front(); m; m = members_.after(*m))
      if (!m->what || m->what == what) m->tell(m->argument);
  }

 private:
  Lock lock_;
  base::intrusive_list<crowd_member> members_;
};

/// The crowd of this process.
[[nodiscard]] basic_crowd<>& crowd() noexcept;

}  // namespace headway::progress
