// Goal:   two threads wait for one shared completion, and one of them is free to give up: whoever
//         waits to the end is woken and sees the result, and the word may be freed when both waits
//         have returned.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock, a touch
//         of a freed word or member an error.
// Mutations that fail here: no look after joining the crowd; the crowd is told before the word is
//         done; `leave` of the seat forgets that the word is shared; (F), (J), (L) or (T') relaxed.

#define NDEBUG  // a model links nothing of ours, so it has nobody to report a failed assertion

#include <optional>

#include "futex.hpp"
// After it, because they name the memory orders.
#include "progress/completion_word.hpp"
#include "progress/crowd.hpp"
#include "progress/wake_word.hpp"

namespace {

using headway::progress::crowd_member;
using headway::progress::rest;

struct alignas(4) waiter {
  headway::progress::basic_wake_word<headway::model::atomic> word;
};
using completion_word = headway::progress::basic_completion_word<waiter, headway::model::atomic>;

struct model_lock {
  rl::mutex inner;
  void lock() { inner.lock($); }
  void unlock() { inner.unlock($); }
};

struct crowd_model : rl::test_suite<crowd_model, 3> {
  waiter waiters[2];
  std::optional<completion_word> word;
  headway::progress::basic_crowd<model_lock, headway::model::atomic> crowd;
  headway::model::atomic<int> waits_left{2};
  rl::var<int> result;

  void before() {
    word.emplace();
    word->reset_shared();
    result($) = 0;
  }

  static void signal(void* who) noexcept {
    auto& sleeper = *static_cast<waiter*>(who);
    if (sleeper.word.signal() == rest::on_futex)
      headway::model::futex_wake(sleeper.word.futex_word(), 1);
  }
  /// progress/completion.cpp, `complete`.
  void complete() {
    result($) = 1;
    const void* name = &*word;
    const auto whom = word->finish();
    if (whom.seated) signal(whom.seated);
    if (whom.crowd) crowd.tell(name);
  }
  /// progress/wait_set.hpp, and `follow` of progress/waiting.cpp.
  void wait(waiter& me, bool gives_up) {
    crowd_member second;
    const auto answer = word->enlist(me);
    bool open = answer == completion_word::enlisting::enlisted;
    if (answer == completion_word::enlisting::occupied) {
      second.what = &*word;
      second.tell = signal;
      second.argument = &me;
      crowd.join(second);
      open = !word->done_meanwhile();
    }
    while (open && !gives_up) {
      if (me.word.lie_down(rest::on_futex)) {
        headway::model::futex_wait(me.word.futex_word(),
                                   static_cast<std::uint32_t>(rest::on_futex));
        me.word.get_up();
      }
      if (word->done()) break;
    }
    word->leave(me);
    if (second.linked()) crowd.leave(second);
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
  return rl::simulate<crowd_model>(params) ? 0 : 1;
}
