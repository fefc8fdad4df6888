// Goal:   two threads wait for one shared completion, and one of them may give up: a thread that
//         waits to the end is woken and sees the result, and the word may be freed when both waits
//         have returned.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock, a touch
//         of a freed word or member an error.
// Mutations that fail here: no look after joining the list; the list is told before the word is
//         done; `leave` of the first waiter forgets that the word is shared; (F), (J), (L) or (T')
//         relaxed.

#define NDEBUG  // a model links no library, so it has no assertion_failed

#include <optional>

#include "futex.hpp"
// After it, because they name the memory orders.
#include "progress/completion/completion_word.hpp"
#include "progress/completion/overflow_waiters.hpp"
#include "progress/completion/wake_word.hpp"

namespace {

using headway::progress::overflow_waiter;
using headway::progress::sleep_state;

struct alignas(4) waiter {
  headway::progress::basic_wake_word<headway::model::atomic> word;
};
using completion_word = headway::progress::basic_completion_word<waiter, headway::model::atomic>;

struct model_lock {
  rl::mutex inner;
  void lock() { inner.lock($); }
  void unlock() { inner.unlock($); }
};

struct overflow_waiters_model : rl::test_suite<overflow_waiters_model, 3> {
  waiter waiters[2];
  std::optional<completion_word> word;
  headway::progress::basic_overflow_waiters<model_lock, headway::model::atomic> overflow;
  headway::model::atomic<int> waits_left{2};
  rl::var<int> result;

  void before() {
    word.emplace();
    word->reset_shared();
    result($) = 0;
  }

  static void signal(void* waiting) noexcept {
    auto& sleeper = *static_cast<waiter*>(waiting);
    if (sleeper.word.signal() == sleep_state::on_futex)
      headway::model::futex_wake(sleeper.word.futex_word(), 1);
  }
  /// progress/completion/completion.cpp, `complete`.
  void complete() {
    result($) = 1;
    const void* name = &*word;
    const auto waiters_to_tell = word->finish();
    if (waiters_to_tell.first) signal(waiters_to_tell.first);
    if (waiters_to_tell.overflow) overflow.tell(name);
  }
  /// progress/completion/wait_set.hpp, and `sleep_on_futex` of progress/waiting/waiting_sleep.cpp.
  void wait(waiter& me, bool gives_up) {
    overflow_waiter second;
    const auto answer = word->enlist(me);
    bool open = answer == completion_word::enlisting::enlisted;
    if (answer == completion_word::enlisting::occupied) {
      second.what = &*word;
      second.tell = signal;
      second.argument = &me;
      overflow.join(second);
      open = !word->done_meanwhile();
    }
    while (open && !gives_up) {
      if (me.word.begin_sleep(sleep_state::on_futex)) {
        headway::model::futex_wait(me.word.futex_word(),
                                   static_cast<std::uint32_t>(sleep_state::on_futex));
        me.word.end_sleep();
      }
      if (word->done()) break;
    }
    word->leave(me);
    if (second.linked()) overflow.leave(second);
    if (word->done()) RL_ASSERT(result($) == 1);
    else RL_ASSERT(gives_up);
  }

  void thread(unsigned index) {
    if (index == 2) return complete();
    wait(waiters[index], index == 0 && rl::rand(2) == 0);
    // The owner, when both are back and the completion is done, may free it.
    if (waits_left.fetch_sub(1, std::memory_order_acq_rel) == 1 && word->done()) word.reset();
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<overflow_waiters_model>(params) ? 0 : 1;
}
