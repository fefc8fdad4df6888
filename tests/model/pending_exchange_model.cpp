// Goal:   no exchange waits for a stream that was shown while every thread that could read it
//         sleeps: shared_banks::pend and node_wait::wait beside shm_driver::arm.
// Method: Relacy, random interleavings and weak memory. The first thread puts its exchange into the
//         list and looks for the stream; the second arms the bell and looks whether an exchange of
//         the list can go on; the third, in another process, shows the stream and rings if it has
//         to. The model has no membarrier, so the doorbell is strict: both sides fence.
// Mutations that fail here: the first thread's look left out, or before it has the lock; the looks
// of the second before it arms.

#include "strict_doorbell.hpp"

namespace {

using bell = headway::model::strict_doorbell;

struct pending_exchange_model : rl::test_suite<pending_exchange_model, 3> {
  headway::model::atomic<std::uint32_t> word;
  headway::model::atomic<int> shown;
  rl::mutex lock;
  rl::var<int> listed;
  bool looked, slept, rang;

  void before() {
    word.store(bell::strict, std::memory_order_relaxed);
    shown.store(0, std::memory_order_relaxed);
    listed($) = 0;
    looked = slept = rang = false;
  }

  [[nodiscard]] bool is_there() { return shown.load(std::memory_order_acquire) != 0; }

  void thread(unsigned index) {
    bell b(word);
    switch (index) {
      case 0:
        lock.lock($);
        listed($) = 1;
        lock.unlock($);
        looked = is_there();
        break;
      case 1: {
        b.arm();
        lock.lock($);
        const bool pending = listed($) != 0;
        lock.unlock($);
        slept = !pending || !is_there();
        break;
      }
      default:
        shown.store(1, std::memory_order_release);
        rang = b.must_ring(false);
    }
  }

  void after() { RL_ASSERT(!slept || rang || looked); }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 100000;
  return rl::simulate<pending_exchange_model>(params) ? 0 : 1;
}
