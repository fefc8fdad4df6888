// Goal:   a ring ends the sleep under way or keeps the next one from beginning, whatever time the
//         sleeper, or one who brings work, sets meanwhile; and what was written before the ring is
//         seen after the sleep.
// Method: Relacy, random interleavings and weak memory. A time that is set never comes here, only
//         `now` does, so a ring that got lost is a deadlock.
// Mutations that fail here: no (S); (R) after the timer is set; the sleeper sets its time after
//         (S).

#include "futex.hpp"
// After it, because it names the memory orders.
#include "progress/alarm.hpp"

namespace {

/// The kernel's timer: a setting replaces the one before; one that has gone off stays so until it
/// is waited for.
struct timer {
  headway::model::atomic<std::uint32_t> gone_off{0};
  void set(std::uint64_t in_ns) {
    gone_off.store(in_ns == 1 ? 1 : 0, std::memory_order_seq_cst);
    if (in_ns == 1) headway::model::futex_wake(gone_off, 1);
  }
  void wait() {
    while (gone_off.exchange(0, std::memory_order_seq_cst) == 0)
      headway::model::futex_wait(gone_off, 0u);
  }
};

struct alarm_model : rl::test_suite<alarm_model, 2> {
  timer kernel;
  headway::progress::basic_alarm<timer, headway::model::atomic> alarm{kernel};
  headway::model::atomic<int> stop{0};

  void thread(unsigned index) {
    constexpr std::uint64_t later = 50'000;
    if (index == 0) {
      for (bool quiet = false; stop.load(std::memory_order_relaxed) == 0; quiet = !quiet) {
        if (quiet) alarm.sleep();
        else alarm.sleep_for(later);
      }
    } else {
      alarm.set(later);
      alarm.ring();  // for nothing: the one below must not be lost for it
      stop.store(1, std::memory_order_relaxed);
      alarm.ring();
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<alarm_model>(params) ? 0 : 1;
}
