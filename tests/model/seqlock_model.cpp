// Goal:   a reader gets the words of one write, never of two.
// Method: Relacy, random interleavings and weak memory.
// Mutations that fail here: (W) relaxed, (V) relaxed, (E) relaxed, (B) relaxed, no odd number,
// (A) left out.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "base/seqlock.hpp"

namespace {

struct seqlock_model : rl::test_suite<seqlock_model, 3> {
  headway::model::atomic<std::uint64_t> words[3];

  void before() {
    for (auto& word : words) word.store(0, std::memory_order_relaxed);
  }

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint64_t i = 1; i <= 3; ++i) {
        const std::uint64_t both[] = {i, i};
        headway::base::seqlock_write(words, both, 2);
      }
      return;
    }
    for (int i = 0; i < 3; ++i) {
      std::uint64_t seen[2] = {};
      if (!headway::base::seqlock_read(words, seen, 2)) continue;
      RL_ASSERT(seen[0] == seen[1]);
      RL_ASSERT(seen[0] != 0);
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<seqlock_model>(params) ? 0 : 1;
}
