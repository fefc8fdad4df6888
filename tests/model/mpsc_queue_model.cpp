// Goal:   two pushers and a popper that hand the popping on by a mask: every member comes out once,
//         whole, and in the order of its pusher.
// Method: Relacy, random interleavings and weak memory.
// Mutations that fail here: (P) relaxed, (T) relaxed; in mask.hpp (U) relaxed, (L) relaxed.

#include "relacy_atomic.hpp"
// After it, because they name the memory orders.
#include "base/mask.hpp"
#include "base/mpsc_queue.hpp"

namespace {

constexpr int pushers = 2, each = 2;

struct item {
  headway::base::mpsc_link<item> hook;
  rl::var<int> number;
  int pusher = 0;
  static headway::base::mpsc_link<item>& link(item& i) { return i.hook; }
};

struct mpsc_queue_model : rl::test_suite<mpsc_queue_model, pushers + 1> {
  headway::base::mpsc_queue<item, &item::link, headway::model::atomic> queue;
  headway::base::basic_mask<headway::model::atomic> mask;
  item items[pushers][each];
  rl::var<int> next[pushers];  // of whoever holds the mask

  void before() {
    for (auto& n : next) n($) = 0;
  }

  void pop_all() {
    while (item* i = queue.pop()) {
      RL_ASSERT(i->number($) == next[i->pusher]($));
      next[i->pusher]($) = next[i->pusher]($) + 1;
    }
  }
  void visit(unsigned index) {
    if (queue.empty() || !mask.try_lock(index + 1)) return;
    pop_all();
    mask.unlock();
  }

  void thread(unsigned index) {
    if (index < pushers)
      for (int n = 0; n < each; ++n) {
        items[index][n].pusher = static_cast<int>(index);
        items[index][n].number($) = n;
        queue.push(items[index][n]);
      }
    visit(index);
    visit(index);
  }

  void after() {
    pop_all();
    for (auto& n : next) RL_ASSERT(n($) == each);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<mpsc_queue_model>(params) ? 0 : 1;
}
