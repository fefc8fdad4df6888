#include "progress/waiting/thread_record.hpp"

#include <pthread.h>

#include <climits>

#include "base/futex.hpp"
#include "base/mutex.hpp"
#include "progress/background/sleep_place.hpp"
#include "progress/core/meter.hpp"

namespace headway::progress {
namespace {

base::mutex free_lock;  // cold: a thread's first wait, and its end
thread_record* free_records HEADWAY_GUARDED_BY(free_lock) = nullptr;
thread_record* all_records HEADWAY_GUARDED_BY(free_lock) = nullptr;

thread_record* take_record() {
  const base::lock_guard hold(free_lock);
  if (!free_records) {
    auto* made = new thread_record;
    made->next_made = all_records;
    return all_records = made;
  }
  auto* record = free_records;
  free_records = record->next_free;
  record->next_free = nullptr;
  return record;
}

struct record_return {
  ~record_return() {
    auto* record = detail::current_record;
    if (!record) return;
    detail::current_record = nullptr;
    if (record->measured) record->measured->leave();
    record->measured = nullptr;
    record->delay_due_ns = 0;  // the kernel's counts were of this thread
    const base::lock_guard hold(free_lock);
    record->next_free = free_records;
    free_records = record;
  }
};

/// In a forked child the lock may be held for ever, by a thread that only the parent has: the
/// child's thread gives no record back when it ends.
void in_child() noexcept { detail::current_record = nullptr; }

}  // namespace

constinit base::atomic<int> woken_threads{0};

constinit thread_local thread_record* detail::current_record = nullptr;

thread_record& detail::adopt_thread() noexcept {
  // Destroyed at the thread's end. If a later destructor of that thread waits, it gets another
  // record, which is lost: a leak of a kilobyte, in programs that do not end their own use of the
  // library.
  static thread_local record_return at_exit;
  static_cast<void>(&at_exit);
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  static_cast<void>(registered);
  current_record = take_record();
  current_record->ticket = base::next_ticket() & 0xffff'ffffu;
  current_record->thread.store(base::thread_of(current_record->ticket), std::memory_order_relaxed);
  current_record->measured = meter::take();
  return *current_record;
}

thread_record* record_of(int thread) noexcept {
  const base::lock_guard hold(free_lock);
  auto* r = all_records;
  while (r && r->thread.load(std::memory_order_relaxed) != thread) r = r->next_made;
  return r;
}

void wake_thread(const owed_wake_up& owed) noexcept {
  if (owed.was == sleep_state::on_futex) {
    woken_threads.fetch_add(1, std::memory_order_relaxed);
    base::futex_wake(owed.sleeper->word.futex_word(), 1);
  } else {
    owed.sleeper->sleeps_at.load(std::memory_order_relaxed)->kick();
  }
}

void signal_all() noexcept {
  const base::lock_guard hold(free_lock);
  for (auto* r = all_records; r; r = r->next_made) {
    const auto was = r->self.word.signal();
    if (was == sleep_state::on_futex || was == sleep_state::in_kernel) wake_thread({&r->self, was});
  }
}

}  // namespace headway::progress
