// Goal:   a receiver that sleeps because it saw no message is rung, by one sender and no more; one
//         that stays awake knows whether a byte is on its way.
// Method: Relacy, random interleavings and weak memory, with one and two senders. The model has no
//         membarrier, so the word is strict from the start: both sides fence.
// Mutations that fail here: the full fence left out of arm or of claim_ring; a sender
// that goes by strict alone as if it were awake; the exchange of asleep replaced by a store.

#include "strict_doorbell.hpp"

namespace {

using bell = headway::model::strict_doorbell;

template <int senders>
struct shm_doorbell_model : rl::test_suite<shm_doorbell_model<senders>, senders + 1> {
  headway::model::atomic<std::uint32_t> word;
  headway::model::atomic<int> messages[senders];
  headway::model::atomic<int> rings;
  bool slept, quiet;

  void before() {
    word.store(bell::strict, std::memory_order_relaxed);
    for (auto& m : messages) m.store(0, std::memory_order_relaxed);
    rings.store(0, std::memory_order_relaxed);
    slept = quiet = false;
  }

  void thread(unsigned index) {
    bell b(word);
    if (index < senders) {
      messages[index].store(1, std::memory_order_release);
      if (b.must_ring(false)) rings.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    b.arm();
    int seen = 0;
    for (auto& m : messages) seen += m.load(std::memory_order_acquire);
    slept = seen != senders;
    if (!slept) quiet = b.disarm();
  }

  void after() {
    const int rang = rings.load(std::memory_order_relaxed);
    RL_ASSERT(rang <= 1);
    if (slept) {
      RL_ASSERT(rang == 1);
    } else {
      RL_ASSERT(rang == (quiet ? 0 : 1));
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  if (!rl::simulate<shm_doorbell_model<1>>(params)) return 1;
  return rl::simulate<shm_doorbell_model<2>>(params) ? 0 : 1;
}
