#include "progress/completion.hpp"

#include "progress/crowd.hpp"
#include "progress/thread_record.hpp"

namespace headway::progress {

constinit basic_crowd<> the_crowd;

void signal(waiter& sleeper) noexcept {
  const auto was = sleeper.word.signal();
  if (was != rest::on_futex && was != rest::on_guard) return;
  auto& me = this_thread();
  if (me.in_round && me.owed_count < thread_record::owed_max) {
    me.owed[me.owed_count++] = {&sleeper, was};
  } else {
    // Outside a round no mask is held. A round that wakes more than `owed_max` threads pays one
    // system call under the mask for each further one: bounded, and rarer than 64 at a time.
    rouse({&sleeper, was});
  }
}

void completion::complete() noexcept {
  // Often the thread that polls finds its own message. It is awake, so there is nobody to signal.
  if (this_thread().spins_for == this) return word_.finish_own();
  tell_all();
}

void completion::tell_all() noexcept {
  const auto whom = word_.finish();  // from here on `this` may be gone
  if (whom.seated) signal(*whom.seated);
  if (whom.crowd) [[unlikely]]
    crowd().tell(this);
}

}  // namespace headway::progress
