// Raw pthreads that spin at a barrier between pieces of work, as runtimes do that never yield their
// processor. With more threads than processors the barrier yields, because it would otherwise cost
// a time slice for each thread, with or without Headway.

#include <pthread.h>

#include "untouched.hpp"

namespace {

struct spinning_barrier {
  explicit spinning_barrier(unsigned n) : count(n) {}
  void meet() {
    const unsigned mine = turn.load();
    if (here.fetch_add(1) + 1 == count) {
      here = 0;
      ++turn;
    } else {
      for (unsigned spins = 1; turn.load() == mine; ++spins)
        if (spins % 1000 == 0) sched_yield();
    }
  }
  const unsigned count;
  std::atomic<unsigned> here{0}, turn{0};
};

struct worker {
  untouched::arrival* message;
  spinning_barrier* barrier;
  std::atomic<bool>* over;
  unsigned number;
  bool bound;
};

void* work(void* argument) {
  auto& me = *static_cast<worker*>(argument);
  if (me.bound) untouched::bind_self(me.number);
  for (;;) {
    untouched::piece_of_work(me.number);
    if (me.number == 0) *me.over = me.message->over();
    me.barrier->meet();
    if (*me.over) return nullptr;
    me.barrier->meet();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const untouched::shape chosen(argc, argv);
  return untouched::run(argc, argv, [&](untouched::arrival& message) {
    spinning_barrier barrier(chosen.threads);
    std::atomic<bool> over{false};
    std::vector<worker> all;
    for (unsigned t = 0; t < chosen.threads; ++t)
      all.push_back({&message, &barrier, &over, t, chosen.bound});
    std::vector<pthread_t> threads(chosen.threads);
    for (unsigned t = 0; t < chosen.threads; ++t)
      pthread_create(&threads[t], nullptr, &work, &all[t]);
    for (auto& t : threads) pthread_join(t, nullptr);
  });
}
