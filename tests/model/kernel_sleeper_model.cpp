// Goal:   a thread that begins to sleep while another one submits sees the submission or is kicked.
// Method: Relacy, random interleavings and weak memory; a forgotten kick is a deadlock.
// Mutations that fail here: (K), (W) relaxed; `push` or `empty` of the queue relaxed.

#include "futex.hpp"
// After it, because they name the memory orders.
#include "base/mpsc_queue.hpp"
#include "progress/completion/sleep_flag.hpp"

namespace {

struct item {
  headway::base::mpsc_link hook;
  static headway::base::mpsc_link& link(item& i) { return i.hook; }
};

struct kernel_sleeper_model : rl::test_suite<kernel_sleeper_model, 3> {
  headway::base::mpsc_queue<item, &item::link, headway::model::atomic> queue;
  headway::progress::basic_sleep_flag<headway::model::atomic> flag;
  headway::model::atomic<unsigned> control{0};  // the eventfd: readable while not 0
  item items[2];

  void thread(unsigned index) {
    if (index < 2) {
      queue.push(items[index]);
      if (flag.sleeping()) {
        control.store(1, std::memory_order_seq_cst);
        headway::model::futex_wake(control, 1);
      }
      return;
    }
    for (int taken = 0; taken < 2;) {
      flag.begin_sleep();
      if (queue.empty()) headway::model::futex_wait(control, 0u);
      flag.end_sleep();
      control.store(0, std::memory_order_seq_cst);
      while (queue.pop()) ++taken;
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<kernel_sleeper_model>(params) ? 0 : 1;
}
