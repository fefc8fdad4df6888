// Goal:   one holder at a time, which sees all that earlier holders did, and is seen by others.
// Method: Relacy, random interleavings and weak memory.
// Mutations that fail here: (U) relaxed, (L) relaxed.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "base/mask.hpp"

namespace {

struct mask_model : rl::test_suite<mask_model, 3> {
  headway::base::basic_mask<headway::model::atomic> mask;
  rl::var<int> tenures;
  headway::model::atomic<int> counted{0};

  void before() { tenures($) = 0; }

  void thread(unsigned index) {
    for (int i = 0; i < 2; ++i) {
      const auto mine = (headway::base::mask::ticket(i + 1) << 32) | (index + 1);
      if (!mask.try_lock(mine)) continue;
      RL_ASSERT(mask.holder() == mine);
      tenures($) = tenures($) + 1;
      counted.fetch_add(1, std::memory_order_relaxed);
      mask.unlock();
    }
  }

  void after() {
    RL_ASSERT(mask.holder() == 0);
    RL_ASSERT(tenures($) == counted.load(std::memory_order_relaxed));
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<mask_model>(params) ? 0 : 1;
}
