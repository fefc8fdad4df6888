// Goal:   a request in a slot is carried out once, or withdrawn, never both; the target sees the
//         whole request, the origin the whole answer.
// Method: Relacy, random interleavings and weak memory: two origins use one slot, each three times,
//         and withdraw what is not answered at once; a target answers with the request's value plus
//         one and counts. What is in the slot are variables that Relacy watches for races.
// Mutations that fail here: each of (Q), (D) and (F) relaxed, on either side.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "windows/slot_turn.hpp"

namespace {

constexpr unsigned origins = 2, requests = 3;

struct request_slot_model : rl::test_suite<request_slot_model, origins + 1> {
  headway::windows::basic_slot_turn<headway::model::atomic<std::uint32_t>> turn;
  rl::var<unsigned> value;
  rl::var<unsigned> carried_out[origins];  // written by the target, read at the end
  rl::atomic<unsigned> left;
  unsigned answered[origins];

  void before() {
    left.store(origins, std::memory_order_relaxed);
    for (unsigned i = 0; i < origins; ++i) {
      carried_out[i]($) = 0;
      answered[i] = 0;
    }
  }

  void thread(unsigned me) { me < origins ? ask(me) : serve(); }

  void ask(unsigned me) {
    for (unsigned n = 0; n < requests; ++n) {
      while (!turn.claim()) rl::yield(1, $);
      const unsigned mine = 2 * (n * origins + me);
      value($) = mine;
      turn.ask();
      if (!turn.is_done()) rl::yield(1, $);
      if (turn.withdraw()) {
        RL_ASSERT(value($) == mine);
      } else {
        while (!turn.is_done()) rl::yield(1, $);
        RL_ASSERT(value($) == mine + 1);
        ++answered[me];
      }
      turn.leave();
    }
    left.fetch_sub(1, std::memory_order_acq_rel);
  }

  void serve() {
    while (left.load(std::memory_order_acquire) != 0) {
      if (turn.is_asked() && turn.begin()) {
        const unsigned asked = value($);
        RL_ASSERT(asked % 2 == 0);
        value($) = asked + 1;
        const unsigned of = asked / 2 % origins;
        carried_out[of]($) = carried_out[of]($) + 1;
        turn.finish();
      } else {
        rl::yield(1, $);
      }
    }
  }

  void after() {
    for (unsigned i = 0; i < origins; ++i) RL_ASSERT(carried_out[i]($) == answered[i]);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<request_slot_model>(params) ? 0 : 1;
}
