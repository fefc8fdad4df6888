// Goal:   with two or three submitters, every member is worked on once, under exclusion, and none
//         is left behind although no further thread comes.
// Method: Relacy, random and full search over interleavings and weak memory.
// Mutations that fail here: (A) relaxed, (B) relaxed, (P) release, (T) relaxed, (E) acquire.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "base/combining_mask.hpp"

namespace {

struct item {
  rl::var<int> value;
  headway::model::atomic<item*> next{nullptr};
};

template <int threads>
struct combining_mask_model : rl::test_suite<combining_mask_model<threads>, threads> {
  headway::base::combining_mask<item, headway::model::atomic, &item::next> mask;
  item items[threads];
  rl::var<int> sum;

  void before() { sum($) = 0; }

  void thread(unsigned index) {
    item& mine = items[index];
    mine.value($) = 1;
    if (mask.try_hold()) {
      sum($) = sum($) + mine.value($);
      mask.let_go();
    } else {
      mask.submit(mine);
    }
    while (mask.any_submitted() && mask.try_hold()) {
      for (item* i = mask.take_all(); i; i = i->next.load(std::memory_order_relaxed))
        sum($) = sum($) + i->value($);
      mask.let_go();
    }
  }

  void after() { RL_ASSERT(sum($) == threads); }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  if (!rl::simulate<combining_mask_model<2>>(params)) return 1;
  return rl::simulate<combining_mask_model<3>>(params) ? 0 : 1;
}
