// Goal:   what starts while the event thread is parked has its sources armed, or a thread polls for
//         it: the message that follows is taken.
// Method: Relacy, random interleavings and weak memory. The sources are one word that a sender
//         reads after it has shown its message; a forgotten ring is a deadlock, because the event
//         thread then sleeps for ever.
// Mutations that fail here: relaxed (*) of `begin`, `leave`, and of the loads in `arm` and
//         `change`; no `arm` after `leave`; no check for work after `begin`.

#include "futex.hpp"
// After it, because they name the memory orders.
#include "progress/background/parking.hpp"
#include "progress/core/pending.hpp"

namespace {

/// Thread 0 parks; each starter posts a receive; attenders attend for a while, whatever has
/// started; the last thread sends a message for each receive.
template <unsigned starters, unsigned attenders>
struct parking_model
    : rl::test_suite<parking_model<starters, attenders>, starters + attenders + 2> {
  using parking = headway::progress::basic_parking<headway::model::atomic>;
  headway::progress::basic_pending<headway::model::atomic> work;
  headway::progress::basic_gate<headway::model::atomic> gate;
  parking parked;
  headway::model::atomic<unsigned> bell{0};  // the sources are armed
  headway::model::atomic<unsigned> rung{0};  // the descriptor: readable while not 0
  headway::model::atomic<unsigned> sent{0}, taken{0};

  void kick() {
    rung.store(1, std::memory_order_seq_cst);
    headway::model::futex_wake(rung, 1);
  }
  /// One poll, by whichever thread comes first.
  void poll() {
    auto some = taken.load(std::memory_order_seq_cst);
    if (some < sent.load(std::memory_order_seq_cst) && some < started() &&
        taken.compare_exchange_strong(some, some + 1, std::memory_order_seq_cst))
      work.ended();
  }
  unsigned started() { return work.starts(); }

  void arm() {
    bool kicks = false;
    parked.arm([&] {
      bell.store(1, std::memory_order_seq_cst);
      kicks = taken.load(std::memory_order_seq_cst) < sent.load(std::memory_order_seq_cst);
    });
    if (kicks) kick();
  }

  void park() {
    parked.begin();
    static_cast<void>(gate.close());
    if (work.balance() == 0) headway::model::futex_wait(rung, 0u);
    rung.store(0, std::memory_order_seq_cst);
    while (parked.try_end() == parking::ended::not_yet) rl::yield(1, $);
    static_cast<void>(gate.open());
    bell.store(0, std::memory_order_seq_cst);
  }

  /// While something is pending it sleeps on the armed sources, as in `event_thread::watch`.
  void watch() {
    bell.store(1, std::memory_order_seq_cst);
    if (taken.load(std::memory_order_seq_cst) == sent.load(std::memory_order_seq_cst))
      headway::model::futex_wait(rung, 0u);
    rung.store(0, std::memory_order_seq_cst);
    bell.store(0, std::memory_order_seq_cst);
    poll();
  }

  void start() {
    work.started();
    if (gate.closed() && work.balance() != 0) arm();
  }

  void attend() {
    parked.attend([&] { bell.store(0, std::memory_order_seq_cst); });
    poll();
    parked.leave();
    if (work.balance() != 0) arm();
    if (taken.load(std::memory_order_seq_cst) == starters) kick();  // for the end of the test
  }

  void thread(unsigned index) {
    if (index == 0) {
      while (taken.load(std::memory_order_seq_cst) < starters)
        if (work.balance() == 0) park();
        else watch();
    } else if (index <= starters) {
      start();
    } else if (index <= starters + attenders) {
      attend();
    } else {
      for (unsigned i = 0; i < starters; ++i) {
        while (started() <= i) rl::yield(1, $);  // a receive is posted before its message is sent
        sent.fetch_add(1, std::memory_order_seq_cst);
        if (bell.exchange(0, std::memory_order_seq_cst) != 0) kick();
      }
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 200000;
  const bool alone =
      rl::simulate<parking_model<1, 0>>(params) && rl::simulate<parking_model<2, 0>>(params);
  return alone && rl::simulate<parking_model<1, 1>>(params) &&
                 rl::simulate<parking_model<1, 2>>(params) &&
                 rl::simulate<parking_model<2, 1>>(params)
             ? 0
             : 1;
}
