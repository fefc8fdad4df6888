// Goal:   two threads hand objects to a third, which sleeps while there is none: each object that
//         was taken is served once, as it was written, and the thread is woken for it and for the
//         end.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock, an
//         object seen half-written a data race.
// Mutations that fail here: (S), (V), (V') or (B) relaxed on either side.

#include "futex.hpp"
// After it, because it names the memory orders.
#include "c_api/progress/hand_over.hpp"

namespace {

struct alignas(8) parcel {
  rl::var<int> content;
};

struct hand_over_model : rl::test_suite<hand_over_model, 3> {
  headway::progress_api::basic_hand_over<parcel, headway::model::atomic> slot;
  parcel parcels[2];
  rl::var<int> served_last;  // of the serving thread, then of the next that reserves
  headway::model::atomic<int> sent{0}, senders_left{2};

  void before() {
    served_last($) = 0;
    slot.open();
  }
  void wake() { headway::model::futex_wake(slot.bell(), 1u); }

  void send(parcel& mine) {
    if (slot.reserve()) {
      const int seen = served_last($);
      RL_ASSERT(seen >= 0);
      mine.content($) = 7;
      sent.fetch_add(1, std::memory_order_relaxed);
      slot.send(mine);
      wake();
    }
    if (senders_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    while (!slot.reserve())
      rl::yield(1, $);  // c_api/progress/task_host.cpp ends when no task is left
    slot.close();
    wake();
  }
  void serve() {
    int served = 0;
    for (;;) {
      const auto next = slot.take();
      if (next.over) break;
      if (!next.object) {
        headway::model::futex_wait(slot.bell(), next.rings);
        continue;
      }
      RL_ASSERT(next.object->content($) == 7);
      next.object->content($) = 0;
      served_last($) = ++served;
      slot.served();
    }
    RL_ASSERT(served == sent.load(std::memory_order_relaxed));
  }

  void thread(unsigned index) {
    if (index == 2) return serve();
    send(parcels[index]);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<hand_over_model>(params) ? 0 : 1;
}
