#include "progress/completion/completion.hpp"

#include "progress/completion/overflow_waiters.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

constinit basic_overflow_waiters<> the_overflow_waiters;

void signal(waiter& sleeper) noexcept {
  const auto was = sleeper.word.signal();
  if (was != sleep_state::on_futex && was != sleep_state::in_kernel) return;
  auto& me = this_thread();
  if (me.in_round && me.owed_count < thread_record::owed_max) {
    me.owed[me.owed_count++] = {&sleeper, was};
  } else {
    // Outside a round no mask is held. In a round, only `owed_max` wake-ups are deferred: each
    // further one is a system call under the mask.
    wake_thread({&sleeper, was});
  }
}

void completion::complete() noexcept {
  // Often the polling thread finds its own message: it is awake and needs no signal.
  if (this_thread().spins_for == this) return word_.finish_own();
  tell_all();
}

void completion::tell_all() noexcept {
  const auto waiters = word_.finish();  // from here on `this` may be gone
  if (waiters.first) [[unlikely]]
    signal(*waiters.first);
  if (waiters.overflow) [[unlikely]]
    overflow().tell(this);
}

}  // namespace headway::progress
