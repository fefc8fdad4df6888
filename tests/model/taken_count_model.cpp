// Goal:   an ltask is submitted without being counted, and a background thread that sleeps without
//         a time limit while nothing waits for a round is woken for it, although another thread may
//         take it out of the queue meanwhile and leave it listed, as `cancel` of another ltask
//         does.
// Method: Relacy, random interleavings and weak memory; a forgotten ltask is a deadlock.
// Mutations that fail here: no `taking`, or after (T'); (T'), (B'), (P), (B), (C), (O) relaxed.

#include "futex.hpp"
// After it, because they name the memory orders.
#include "base/mask.hpp"
#include "base/mpsc_queue.hpp"
#include "progress/core/pending.hpp"
#include "progress/core/taken_count.hpp"

namespace {

struct item {
  headway::base::mpsc_link hook;
  rl::var<int> runs;
  static headway::base::mpsc_link& link(item& i) { return i.hook; }
};

struct taken_count_model : rl::test_suite<taken_count_model, 3> {
  headway::base::mpsc_queue<item, &item::link, headway::model::atomic> submissions;
  headway::progress::basic_taken_count<headway::model::atomic> taken_count;
  headway::base::basic_mask<headway::model::atomic> mask;
  headway::progress::basic_gate<headway::model::atomic> quiet;
  headway::model::atomic<int> over{0};  // it has run: the background thread may end
  item one;
  item* main = nullptr;  // the list of progress/core/queue.hpp, of the mask's holder

  void before() { one.runs($) = 0; }

  /// progress/core/engine_core.hpp, and `task_queue::has_taken`.
  bool nothing() { return submissions.empty() && !taken_count.any(); }
  void open() {
    if (quiet.open()) headway::model::futex_wake(quiet.futex_word(), 100);
  }
  void sleep() {
    const auto closed = quiet.close();
    if (nothing() && over.load(std::memory_order_seq_cst) == 0)
      headway::model::futex_wait(quiet.futex_word(), closed);
  }

  void absorb() {
    unsigned count = 0;
    taken_count.taking();
    while (item* i = submissions.pop()) {
      main = i;
      ++count;
    }
    taken_count.took(count);
  }
  void visit(unsigned index, bool runs) {
    if (!mask.try_lock(index + 1)) return;
    absorb();
    const bool ran = main != nullptr && runs;
    if (ran) {
      main->runs($) = main->runs($) + 1;
      main = nullptr;
    }
    if (runs) taken_count.all_ran();
    mask.unlock();
    if (!ran) return;
    over.store(1, std::memory_order_seq_cst);
    open();
  }

  void thread(unsigned index) {
    if (index == 0) {
      while (over.load(std::memory_order_seq_cst) == 0) {
        if (nothing()) sleep();
        visit(index, true);
        rl::yield(1, $);
      }
    } else if (index == 1) {
      submissions.push(one);
      if (quiet.closed() && !nothing()) open();
    } else {
      visit(index, rl::rand(2) == 0);
    }
  }

  void after() { RL_ASSERT(one.runs($) == 1); }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<taken_count_model>(params) ? 0 : 1;
}
