// Goal:   the doorbell's light mode: a receiver that was awake for long arms it; senders that do
//         not fence either are seen by it, or ring.
// Method: Relacy, random interleavings and weak memory. membarrier(2) makes every other thread pass
//         a full fence somewhere between call and return; here the caller asks, and each sender
//         answers with a fence at whichever of its points it sees the question, at its end at the
//         latest: a thread that has left the processor has fenced too. The caller waits for all.
// Mutations that fail here: `heavy` that does not wait for the answers, or asks before (S);
// `arm` that fences only as under strict.

#include "relacy_atomic.hpp"
// After it, because they name the memory orders.
#include "rails/shm/basic_doorbell.hpp"

namespace {

struct process_barrier {
  static constexpr int senders_max = 2;
  headway::model::atomic<int> asked;
  headway::model::atomic<int> answered[senders_max];
  int senders = 0;

  void reset(int count) {
    senders = count;
    asked.store(0, std::memory_order_relaxed);
    for (auto& a : answered) a.store(0, std::memory_order_relaxed);
  }
  /// Of sender `index`, at any point of its way.
  void pass(unsigned index, bool at_the_end) {
    if (answered[index].load(std::memory_order_relaxed)) return;
    if (!at_the_end && !asked.load(std::memory_order_acquire)) return;
    rl::atomic_thread_fence(rl::mo_seq_cst, $);
    answered[index].store(1, std::memory_order_release);
  }
  void call() {
    rl::atomic_thread_fence(rl::mo_seq_cst, $);
    asked.store(1, std::memory_order_release);
    for (int i = 0; i < senders; ++i)
      while (!answered[i].load(std::memory_order_acquire)) rl::yield(1, $);
    rl::atomic_thread_fence(rl::mo_seq_cst, $);
  }
};

process_barrier* the_barrier = nullptr;  // of the execution under way; there is one at a time
unsigned sender_now() { return rl::thread_index(); }

struct light_fences {
  static void full() { rl::atomic_thread_fence(rl::mo_seq_cst, $); }
  static void heavy() { the_barrier->call(); }
  static void light() { the_barrier->pass(sender_now(), false); }
};
using bell = headway::rails::shm::basic_doorbell<headway::model::atomic, light_fences>;

template <int senders>
struct shm_light_doorbell_model : rl::test_suite<shm_light_doorbell_model<senders>, senders + 1> {
  headway::model::atomic<std::uint32_t> word;
  headway::model::atomic<int> messages[senders];
  headway::model::atomic<int> rings;
  process_barrier barrier;
  bool slept, quiet;

  void before() {
    word.store(0, std::memory_order_relaxed);  // awake for long: strict is clear
    for (auto& m : messages) m.store(0, std::memory_order_relaxed);
    rings.store(0, std::memory_order_relaxed);
    barrier.reset(senders);
    the_barrier = &barrier;
    slept = quiet = false;
  }

  void thread(unsigned index) {
    bell b(word);
    if (index < senders) {
      barrier.pass(index, false);
      messages[index].store(1, std::memory_order_release);
      if (b.must_ring(false)) rings.fetch_add(1, std::memory_order_relaxed);
      barrier.pass(index, true);
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
  if (!rl::simulate<shm_light_doorbell_model<1>>(params)) return 1;
  return rl::simulate<shm_light_doorbell_model<2>>(params) ? 0 : 1;
}
