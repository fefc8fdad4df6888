// Goal:   after a notification, a drain that begins later sees what was notified.
// Method: Relacy, random interleavings and weak memory. Two threads leave something each and call;
//         a caller that has to notify leaves that to the third thread.
// Mutations that fail here: (C) without its release, (W) without its acquire, (W) behind the look.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "endpoints/wire/notify_once.hpp"

namespace {

struct notify_once_model : rl::test_suite<notify_once_model, 3> {
  headway::endpoints::basic_notify_once<headway::model::atomic> notified;
  headway::model::atomic<int> left[2];
  headway::model::atomic<int> sent{0};
  int seen[2] = {0, 0};

  void before() {
    left[0].store(0, std::memory_order_relaxed);
    left[1].store(0, std::memory_order_relaxed);
  }
  void look() {
    notified.answer();
    for (int i = 0; i < 2; ++i)
      if (left[i].load(std::memory_order_relaxed) != 0) seen[i] = 1;
  }
  void thread(unsigned index) {
    if (index < 2) {
      left[index].store(1, std::memory_order_relaxed);
      if (notified.call()) sent.fetch_add(1, std::memory_order_release);  // as a submission does
      return;
    }
    for (int rounds = 0; rounds < 2; ++rounds) {
      const int due = sent.load(std::memory_order_acquire);
      for (int i = 0; i < due; ++i) {
        sent.fetch_sub(1, std::memory_order_relaxed);
        look();
      }
    }
  }
  void after() {  // the notifications that no thread answered in time
    while (sent.load(std::memory_order_acquire) != 0) {
      sent.fetch_sub(1, std::memory_order_relaxed);
      look();
    }
    RL_ASSERT(seen[0] == 1 && seen[1] == 1);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 100000;
  return rl::simulate<notify_once_model>(params) ? 0 : 1;
}
