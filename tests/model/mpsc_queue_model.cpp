// Goal:   pushers and a popper that hand the popping on by a mask: every member comes out once,
//         whole, and in the order of its pusher. The same when a pusher pushes its one member again
//         and again, each time once it has come out; and a thread that finds the queue empty sees
//         what was popped from it.
// Method: Relacy, random interleavings and weak memory; a member that is never found is a livelock.
// Mutations that fail here: (P) relaxed, (T) relaxed; in mask.hpp (U) relaxed, (L) relaxed; no bit
//         in (N), or always 1; (T') relaxed; (B') before (B).

#include "relacy_atomic.hpp"
// After it, because they name the memory orders.
#include "base/mask.hpp"
#include "base/mpsc_queue.hpp"

namespace {

constexpr int pushers = 2, each = 2;

struct item {
  headway::base::mpsc_link hook;
  rl::var<int> number;
  int pusher = 0;
  static headway::base::mpsc_link& link(item& i) { return i.hook; }
};

struct mpsc_queue_model : rl::test_suite<mpsc_queue_model, pushers + 1> {
  headway::base::mpsc_queue<item, &item::link, headway::model::atomic> queue;
  headway::base::basic_mask<headway::model::atomic> mask;
  item items[pushers][each];
  rl::var<int> next[pushers];  // of the mask's holder

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

/// Two pushers, each with one member; all three pop, and the third one looks.
struct again_model : rl::test_suite<again_model, pushers + 1> {
  static constexpr int times = 3;
  headway::base::mpsc_queue<item, &item::link, headway::model::atomic> queue;
  headway::base::basic_mask<headway::model::atomic> mask;
  item items[pushers];
  headway::model::atomic<int> out[pushers];  // its number: gives the member back to its pusher
  headway::model::atomic<int> busy{0};       // a thread has taken members, or is about to

  void before() {
    for (auto& o : out) o.store(0, std::memory_order_relaxed);
  }

  void visit(unsigned index) {
    if (queue.empty() || !mask.try_lock(index + 1)) return;
    busy.store(1, std::memory_order_relaxed);
    while (item* i = queue.pop()) out[i->pusher].store(i->number($), std::memory_order_release);
    busy.store(0, std::memory_order_release);
    mask.unlock();
  }

  void thread(unsigned index) {
    if (index == pushers) {
      visit(index);
      visit(index);
      return;
    }
    items[index].pusher = static_cast<int>(index);
    for (int n = 1; n <= times; ++n) {
      items[index].number($) = n;
      queue.push(items[index]);
      if (queue.empty() && busy.load(std::memory_order_acquire) == 0)
        RL_ASSERT(out[index].load(std::memory_order_relaxed) == n);
      while (out[index].load(std::memory_order_acquire) != n) {
        visit(index);
        rl::yield(1, $);
      }
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<mpsc_queue_model>(params) && rl::simulate<again_model>(params) ? 0 : 1;
}
