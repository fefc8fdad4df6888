// Goal:   a rank that has seen another one come to a fence sees what that one wrote before; after
//         it has seen all others come, none of them reads or writes of the epoch before any more.
// Method: Relacy, random interleavings and weak memory, three ranks, which write words of each
//         other between fences. The words are variables that Relacy watches for races.
// Mutations that fail here: (N) relaxed, (M) relaxed.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "windows/epoch_counter.hpp"

namespace {

constexpr unsigned ranks = 3;
constexpr unsigned rounds = 2;

using counter = headway::windows::basic_epoch_counter<headway::model::atomic<std::uint64_t>>;

struct epoch_counter_model : rl::test_suite<epoch_counter_model, ranks> {
  counter fences[ranks];
  rl::var<unsigned> words[ranks];

  void meet(unsigned me) {
    const auto mine = fences[me].tell();
    for (unsigned rank = 0; rank < ranks; ++rank)
      while (!fences[rank].told(mine)) rl::yield(1, $);
  }

  void thread(unsigned me) {
    for (unsigned round = 1; round <= rounds; ++round) {
      const unsigned to = (me + round) % ranks, from = (me + ranks - round % ranks) % ranks;
      words[to]($) = round * 10 + me;
      meet(me);
      RL_ASSERT(words[me]($) == round * 10 + from);
      meet(me);
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<epoch_counter_model>(params) ? 0 : 1;
}
