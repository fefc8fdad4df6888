// Goal:   two background threads that sleep without a time limit because nothing is pending, or
//         because an application thread guards, one on the futex word and one on the alarm, are
//         both woken when that ends.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock. The
//         alarm is a word that stays set until it is slept on, as the kernel's timer does.
// Mutations that fail here: any of (A), (B), (C), (O) relaxed; no look after `close`; `open`
//         that tells of one kind of bed only.

#include "futex.hpp"
// After it, because it names the memory orders.
#include "progress/pending.hpp"

namespace {

using headway::progress::bed;

template <bool guarded_at_first>
struct gate_model : rl::test_suite<gate_model<guarded_at_first>, 4> {
  headway::progress::basic_pending<headway::model::atomic> work;
  headway::progress::basic_gate<headway::model::atomic> quiet;
  headway::model::atomic<int> guarded{0};  // guard::holder::application
  headway::model::atomic<std::uint32_t> alarm_set{0};

  void before() { guarded.store(guarded_at_first ? 1 : 0, std::memory_order_seq_cst); }

  /// progress/engine_core.hpp, `nothing_for_background` and the three around it.
  bool nothing() { return work.balance() == 0 || guarded.load(std::memory_order_seq_cst) != 0; }
  void tell() {
    if (!quiet.closed() || nothing()) return;
    const auto asleep = quiet.open();
    if (asleep.on_alarm) {
      alarm_set.store(1, std::memory_order_seq_cst);
      headway::model::futex_wake(alarm_set, 1);
    }
    if (asleep.on_futex) headway::model::futex_wake(quiet.futex_word(), 100);
  }
  void sleep(bed kind) {
    const auto word = quiet.close(kind);
    if (!nothing()) return;
    if (kind == bed::futex) return headway::model::futex_wait(quiet.futex_word(), word);
    headway::model::futex_wait(alarm_set, 0u);
    alarm_set.store(0, std::memory_order_seq_cst);
  }

  void thread(unsigned index) {
    if (index <= 1) {  // the background threads end when they have found work that nobody guards
      while (nothing()) sleep(index == 0 ? bed::futex : bed::alarm);
    } else if (index == 2) {
      work.started();
      tell();
    } else {
      guarded.store(0, std::memory_order_seq_cst);
      tell();
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  if (!rl::simulate<gate_model<false>>(params)) return 1;
  return rl::simulate<gate_model<true>>(params) ? 0 : 1;
}
