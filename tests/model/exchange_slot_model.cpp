// Goal:   in each of four exchanges every rank reads the values that all ranks have shown in it.
// Method: Relacy, random interleavings and weak memory, three ranks. The values are variables that
//         Relacy watches for races.
// Mutations that fail here: (P) relaxed, (A) relaxed, one line instead of two.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "collectives/exchange_slot.hpp"

namespace {

constexpr unsigned ranks = 3;
constexpr std::uint64_t exchanges = 4;

using line = headway::collectives::basic_exchange_slot<headway::model::atomic<std::uint64_t>,
                                                       rl::var<unsigned>>;
using headway::collectives::exchange_lines;
using headway::collectives::slot_of;

struct exchange_slot_model : rl::test_suite<exchange_slot_model, ranks> {
  line lines[ranks][exchange_lines];

  void before() {
    for (auto& of_rank : lines)
      for (auto& each : of_rank) each.number.store(0, std::memory_order_relaxed);
  }

  static unsigned value(unsigned rank, std::uint64_t n) {
    return static_cast<unsigned>(n) * 10 + rank;
  }

  void thread(unsigned me) {
    for (std::uint64_t n = 1; n <= exchanges; ++n) {
      line& own = slot_of(lines[me], n);
      own.value($) = value(me, n);
      own.publish(n);
      for (unsigned rank = 0; rank < ranks; ++rank)
        while (!slot_of(lines[rank], n).holds(n)) rl::yield(1, $);
      for (unsigned rank = 0; rank < ranks; ++rank)
        RL_ASSERT(slot_of(lines[rank], n).value($) == value(rank, n));
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<exchange_slot_model>(params) ? 0 : 1;
}
