#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "endpoints/delivery/message.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/engine.hpp"

namespace headway::endpoints {

/// A thread that waits; in one list at a time. The thread that removes it from the list, under the
/// list's lock, completes it after the lock is free; if the waiting thread finds itself removed, it
/// waits for that completion.
struct waiting_thread : progress::completion, base::list_hook<> {
  filter wanted;        ///< for a receiver
  bool listed = false;  ///< in a list; under the list's lock
  /// the message for it; nullptr: look again, or the end-point is closed
  parcel* received = nullptr;
};

/// A thread that waits for messages at several end-points. The first one with a message claims it.
struct watching_thread : progress::completion {
  base::atomic<bool> claimed{false};  // one exchange wins; relaxed, it carries no data
};
struct watch : base::list_hook<> {
  watching_thread* by = nullptr;
};

/// Threads to wake when no lock is held any more.
struct woken {
  base::intrusive_list<waiting_thread> threads;
  static constexpr int watchers_max = 8;
  watching_thread* watchers[watchers_max];
  int watcher_count = 0;

  void add(waiting_thread& w) noexcept {
    w.listed = false;
    threads.push_back(w);
  }
  void add_all(base::intrusive_list<waiting_thread>& waiting) noexcept {
    while (waiting_thread* w = waiting.pop_front()) add(*w);
  }

  woken() = default;
  woken(const woken&) = delete;
  woken& operator=(const woken&) = delete;
  /// Wakes them; each may be gone when its own `complete` returns.
  ~woken() {
    while (waiting_thread* w = threads.pop_front()) w->complete();
    for (int i = 0; i < watcher_count; ++i) watchers[i]->complete();
  }
};

/// Waits for `me`, which is in a list. False: the deadline passed, and `withdraw` removed `me` from
/// the list before another thread did.
template <class Withdraw>
[[nodiscard]] bool wait_listed(progress::engine& engine, waiting_thread& me,
                               std::uint64_t deadline_ns, Withdraw withdraw) noexcept {
  if (deadline_ns == for_ever) {
    engine.wait(me);
  } else if (!engine.wait_until(me, deadline_ns)) {
    if (withdraw()) return false;
    engine.wait(me);  // its completion is under way
  }
  return true;
}

}  // namespace headway::endpoints
