// Goal:   background threads that sleep without a time limit because nothing is pending, or because
//         a waiting thread is the kernel sleeper, are woken when that ends.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock.
// Mutations that fail here: any of (A), (B), (C), (O) relaxed; no check after `close`; `open`
//         stores 0 (two sleepers).

#include "futex.hpp"
// After it, because it names the memory orders.
#include "progress/core/pending.hpp"

namespace {

template <bool waiter_sleeps_at_first, unsigned sleepers>
struct gate_model : rl::test_suite<gate_model<waiter_sleeps_at_first, sleepers>,
                                   sleepers + 1 + waiter_sleeps_at_first> {
  headway::progress::basic_pending<headway::model::atomic> work;
  headway::progress::basic_gate<headway::model::atomic> quiet;
  headway::model::atomic<int> guarded{0};  // kernel_sleeper::holder::application

  void before() { guarded.store(waiter_sleeps_at_first ? 1 : 0, std::memory_order_seq_cst); }

  /// progress/background/quiet_sleep.hpp, `nothing_to_do` and the functions behind it.
  bool nothing() { return work.balance() == 0 || guarded.load(std::memory_order_seq_cst) != 0; }
  void tell() {
    if (quiet.closed() && !nothing() && quiet.open())
      headway::model::futex_wake(quiet.futex_word(), 100);
  }
  void sleep() {
    const auto closed = quiet.close();
    if (nothing()) headway::model::futex_wait(quiet.futex_word(), closed);
  }

  void thread(unsigned index) {
    // A background thread ends when it has found work without a kernel sleeper.
    if (index < sleepers) {
      while (nothing()) sleep();
    } else if (index == sleepers) {
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
  const bool one = rl::simulate<gate_model<false, 1>>(params);
  const bool two = one && rl::simulate<gate_model<false, 2>>(params);
  const bool guarded = two && rl::simulate<gate_model<true, 1>>(params);
  return guarded && rl::simulate<gate_model<true, 2>>(params) ? 0 : 1;
}
