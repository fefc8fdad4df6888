// Goal:   what is noted under the lock and then deferred is found by the function.
// Method: Relacy, random interleavings and weak memory: two threads note, the third one polls.
// Mutations that fail here: the flag cleared after the function, `defer` before the note.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "progress/core/deferred_work.hpp"

namespace {

struct deferred_work_model : rl::test_suite<deferred_work_model, 3> {
  headway::progress::basic_deferred_work<headway::model::atomic> deferred;
  rl::mutex lock;
  rl::var<int> noted;  // so many

  void before() {
    noted($) = 0;
    deferred.set([](void* self) noexcept { static_cast<deferred_work_model*>(self)->look(); },
                 this);
  }
  void look() {
    lock.lock($);
    noted($) = 0;
    lock.unlock($);
  }
  void thread(unsigned index) {
    if (index < 2) {
      lock.lock($);
      noted($) = noted($) + 1;
      lock.unlock($);
      deferred.defer();
      return;
    }
    for (int i = 0; i < 4; ++i) deferred.run();
  }
  void after() {
    deferred.run();
    RL_ASSERT(noted($) == 0);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<deferred_work_model>(params) ? 0 : 1;
}
