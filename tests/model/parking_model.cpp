// Goal:   what starts while the event thread is parked has its sources armed, or a thread polls for
//         it: the message that follows is taken, also where a thread sleeps beside the parked one.
// Method: Relacy, random interleavings and weak memory. The sources are one word that a sender
//         reads after it has shown its message; a forgotten ring is a deadlock, because the threads
//         then sleep for ever.
// Mutations that fail here: relaxed (*) of `begin`, `leave`, and of the loads in `arm` and
//         `change`; no `arm` after `leave`; no `arm` after `begin`; no `started` before the sleep
//         beside.

#include "futex.hpp"
// After it, because they name the memory orders.
#include "progress/background/parking.hpp"
#include "progress/core/pending.hpp"

namespace {

/// Thread 0 parks; each starter posts a receive; attenders attend for a while, whatever has
/// started; each thread beside posts a receive and sleeps beside thread 0 until all is over (one at
/// most); the last thread sends a message for each receive.
template <unsigned starters, unsigned attenders, unsigned besides>
struct parking_model : rl::test_suite<parking_model<starters, attenders, besides>,
                                      starters + attenders + besides + 2> {
  static_assert(besides <= 1);
  static constexpr unsigned messages = starters + besides;
  using parking = headway::progress::basic_parking<headway::model::atomic>;
  using word = headway::model::atomic<unsigned>;
  headway::progress::basic_pending<headway::model::atomic> work;
  headway::progress::basic_gate<headway::model::atomic> gate;
  parking parked;
  word bell{0};                  // the sources are armed
  word rung{0}, rung_beside{0};  // at each place, the descriptor: readable while not 0
  word sleeps_beside{0};         // the kernel wakes that thread alone
  word posted{0}, sent{0}, taken{0};

  void kick(word& descriptor) {
    descriptor.store(1, std::memory_order_seq_cst);
    headway::model::futex_wake(descriptor, 1);
  }
  void ring() { kick(sleeps_beside.load(std::memory_order_seq_cst) != 0 ? rung_beside : rung); }
  [[nodiscard]] bool is_over() { return taken.load(std::memory_order_seq_cst) == messages; }

  /// One round of a thread that polls; as in a progress engine, it goes on while something moves.
  void poll() {
    for (auto some = taken.load(std::memory_order_seq_cst);
         some < sent.load(std::memory_order_seq_cst); some = taken.load(std::memory_order_seq_cst))
      if (taken.compare_exchange_strong(some, some + 1, std::memory_order_seq_cst)) work.ended();
    if (is_over()) {  // the signal of what each of them waits for, and the end of the test
      kick(rung);
      kick(rung_beside);
    }
  }

  /// False: there is work already.
  bool arm_sources() {
    bell.store(1, std::memory_order_seq_cst);
    return taken.load(std::memory_order_seq_cst) == sent.load(std::memory_order_seq_cst);
  }
  void disarm_sources() { bell.store(0, std::memory_order_seq_cst); }
  void arm() {
    bool kicks = false;
    parked.arm([&] { kicks = !arm_sources(); });
    if (kicks) kick(rung);
  }

  void park() {
    const bool works = !arm_sources();
    disarm_sources();
    if (works && !parked.attended()) return poll();
    parked.begin();
    static_cast<void>(gate.close());
    if (work.balance() != 0) arm();
    headway::model::futex_wait(rung, 0u);
    rung.store(0, std::memory_order_seq_cst);
    auto how = parked.try_end();
    for (; how == parking::ended::not_yet; how = parked.try_end()) rl::yield(1, $);
    static_cast<void>(gate.open());
    if (how == parking::ended::armed) disarm_sources();
    if (!parked.attended()) poll();
  }

  void start() {
    work.started();
    if (gate.closed() && work.balance() != 0) arm();
  }
  void post() {
    start();
    posted.fetch_add(1, std::memory_order_seq_cst);
  }

  void begin_attending() {
    parked.attend([&] { disarm_sources(); });
  }
  void end_attending() {
    parked.leave();
    if (work.balance() != 0) arm();
  }
  void attend() {
    begin_attending();
    poll();
    end_attending();
  }

  void wait_beside() {
    work.started();
    posted.fetch_add(1, std::memory_order_seq_cst);
    for (attend(); !is_over(); attend()) {
      sleeps_beside.store(1, std::memory_order_seq_cst);
      headway::model::futex_wait(rung_beside, 0u);
      sleeps_beside.store(0, std::memory_order_seq_cst);
      rung_beside.store(0, std::memory_order_seq_cst);
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      while (!is_over()) park();
    } else if (index <= starters) {
      post();
    } else if (index <= starters + attenders) {
      attend();
    } else if (index <= starters + attenders + besides) {
      wait_beside();
    } else {
      for (unsigned i = 0; i < messages; ++i) {
        while (posted.load(std::memory_order_seq_cst) <= i) rl::yield(1, $);
        sent.fetch_add(1, std::memory_order_seq_cst);
        if (bell.exchange(0, std::memory_order_seq_cst) != 0) ring();
      }
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 200000;
  const bool alone = rl::simulate<parking_model<1, 0, 0>>(params) &&
                     rl::simulate<parking_model<2, 0, 0>>(params) &&
                     rl::simulate<parking_model<1, 1, 0>>(params) &&
                     rl::simulate<parking_model<1, 2, 0>>(params) &&
                     rl::simulate<parking_model<2, 1, 0>>(params);
  return alone && rl::simulate<parking_model<0, 0, 1>>(params) &&
                 rl::simulate<parking_model<0, 1, 1>>(params) &&
                 rl::simulate<parking_model<1, 0, 1>>(params) &&
                 rl::simulate<parking_model<1, 1, 1>>(params)
             ? 0
             : 1;
}
