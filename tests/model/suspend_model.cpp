// Goal:   an ltask that suspends itself when it has nothing to do misses no resume, although the
//         event that it waits for may come between its decision and the suspension; beside that,
//         another thread suspends it and resumes it again, or cancels it; it is never in two
//         queues, and ends once.
// Method: Relacy, random interleavings and weak memory; a lost resume is a deadlock, a double one
//         an assertion, what a run did and the next does not see a data race.
// Mutations that fail here: `leave` without looking at `resumed_early`; (P) relaxed; (R) relaxed;
//         `resume` that does not set `resumed_early`; `claim_suspended` that does not look.

#include "futex.hpp"
// After it, because they name the memory orders.
#include "c_api/progress/task_phase.hpp"

namespace {

using headway::progress_api::task_phase;
using phase_word = headway::progress_api::basic_task_phase<headway::model::atomic>;

struct suspend_model : rl::test_suite<suspend_model, 3> {
  phase_word phase;
  rl::mutex queue_mask;     // the mask of progress/core/queue.hpp: rounds, and `take_back`
  rl::var<int> queued;      // under the mask
  rl::var<int> runs;        // the body's: no two runs at once, each sees the last
  rl::var<int> idle_since;  // the body's, and of the thread that resumes, before it queues
  headway::model::atomic<int> event{0}, ended{0};

  void before() {
    queued($) = 0;
    runs($) = 0;
    idle_since($) = 0;
    phase.begin();
    enqueue();
  }
  void enqueue() {
    queue_mask.lock($);
    RL_ASSERT(queued($) == 0);
    queued($) = 1;
    queue_mask.unlock($);
  }
  bool take_back() {
    queue_mask.lock($);
    const bool here = queued($) == 1;
    if (here) queued($) = 0;
    queue_mask.unlock($);
    return here;
  }
  void resume() {  // c_api/progress/task.cpp
    if (phase.resume() != phase_word::resumed::to_be_queued) return;
    idle_since($) = 0;
    enqueue();
  }

  void end() {
    phase.end();
    RL_ASSERT(ended.exchange(1, std::memory_order_acq_rel) == 0);
  }
  void cancel() {  // c_api/progress/task.cpp; its lock excludes `suspend`
    while (phase.get() != task_phase::inactive) {
      const bool mine =
          phase.get() == task_phase::suspended ? phase.claim_suspended() : take_back();
      if (mine) {
        runs($) = runs($) + 1;  // the caller's alone
        return end();
      }
      rl::yield(1, $);
    }
  }

  /// A polling thread: rounds until the ltask has ended.
  void poll() {
    while (ended.load(std::memory_order_acquire) == 0) {
      queue_mask.lock($);
      if (queued($) == 1) {
        queued($) = 0;
        bool requeue = false;
        runs($) = runs($) + 1;
        idle_since($) = runs($);
        if (event.load(std::memory_order_acquire) == 1) {
          end();
        } else if (!phase.leave(task_phase::suspended,
                                phase_word::resumed_early | phase_word::end_asked)) {
          phase.clear_resumed_early();  // `park`
          requeue = true;
        }
        if (requeue) queued($) = 1;
      }
      queue_mask.unlock($);
      rl::yield(1, $);
    }
  }

  void thread(unsigned index) {
    if (index == 0) return poll();
    if (index == 1) {  // what the ltask waits for
      event.store(1, std::memory_order_release);
      return resume();
    }
    if (rl::rand(2) == 0) return cancel();
    for (int tries = 0; tries < 3; ++tries) {  // `suspend`, which may find it elsewhere
      if (phase.get() != task_phase::active || !take_back()) continue;
      phase.put(task_phase::suspended);
      break;
    }
    resume();
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<suspend_model>(params) ? 0 : 1;
}
