// Goal:   a rank writes its line again because a line of another rank says that it has finished
//         the exchange, also where one thread of that rank has read the line and another one
//         publishes what the rank has finished.
// Method: Relacy, random interleavings and weak memory, three threads: the writer, and the two of
//         the other rank. What a line says is a variable that Relacy watches for races.
// Mutations that fail here: (N) or (G) relaxed, and the number's (P) or (A).

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "collectives/bank.hpp"

namespace {

using number = headway::model::atomic<std::uint64_t>;
using line = headway::collectives::basic_bank_line<number, rl::var<std::uint64_t>>;

struct bank_finished_model : rl::test_suite<bank_finished_model, 3> {
  line of_writer, of_reader;
  headway::collectives::basic_finished<number> finished;

  void before() {
    for (auto* each : {&of_writer, &of_reader}) {
      each->number.store(0, std::memory_order_relaxed);
      each->ready.store(0, std::memory_order_relaxed);
    }
    finished.last.store(0, std::memory_order_relaxed);
  }

  void write() {
    of_writer.value($) = 11;
    of_writer.publish(1, 1);
    while (!of_reader.holds(2)) rl::yield(1, $);
    RL_ASSERT(of_reader.value($) == 1);
    of_writer.value($) = 13;
    of_writer.publish(3, 1);
  }

  void read() {
    while (!of_writer.holds(1)) rl::yield(1, $);
    RL_ASSERT(of_writer.value($) == 11);
    finished.note(1);
  }

  /// The next exchange of the reading rank, begun by another one of its threads.
  void show() {
    std::uint64_t known = 0;
    while ((known = finished.known()) == 0) rl::yield(1, $);
    of_reader.value($) = known;
    of_reader.publish(2, 1);
  }

  void thread(unsigned me) {
    if (me == 0) write();
    else if (me == 1) read();
    else show();
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<bank_finished_model>(params) ? 0 : 1;
}
